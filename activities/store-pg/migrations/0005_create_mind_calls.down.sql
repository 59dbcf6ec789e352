drop table dream.mind_answer;
drop table dream.mind_call;
