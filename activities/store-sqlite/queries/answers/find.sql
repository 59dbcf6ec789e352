-- queries/answers/find.sql
select question, model, vector from dream_answer where question in (select value from json_each(?1))
