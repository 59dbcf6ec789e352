-- queries/answers/write.sql
insert into dream.answer (question, model, vector, answered_at) values ($1, $2, $3, clock_timestamp()) on conflict do nothing
