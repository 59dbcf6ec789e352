-- queries/answers/write.sql
insert into dream_answer (question, model, vector, answered_at) values (?1, ?2, ?3, ?4) on conflict do nothing
