-- queries/answers/find.sql
select question, model, vector from dream.answer where question = any ($1)
