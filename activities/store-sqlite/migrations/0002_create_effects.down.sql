drop table dream_embedding;
drop table dream_answer;
drop table dream_baseline;
drop table dream_alias;
drop table dream_verdict;
drop table dream_outbox;
drop table dream_touched;
drop table dream_undo;
