drop table dream_mind_answer;
drop table dream_mind_call;
