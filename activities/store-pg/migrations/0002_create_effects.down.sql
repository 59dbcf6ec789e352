drop table dream.answer;
drop table dream.baseline;
drop table dream.alias;
drop table dream.verdict;
drop table dream.outbox;
drop table dream.touched;
drop table dream.undo;
