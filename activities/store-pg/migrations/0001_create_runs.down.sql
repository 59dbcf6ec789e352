-- The schema itself stays: it holds the table in which these migrations are written down.
drop table dream.control;
drop table dream.request;
drop table dream.op;
drop table dream.draft;
drop table dream.finding;
drop table dream.step;
drop table dream.run;
drop table dream.lease;
drop table dream.meta;
