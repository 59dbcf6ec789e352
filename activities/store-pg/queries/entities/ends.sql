-- queries/entities/ends.sql
-- Which of these entities an edge of this namespace may end at.
select id from entities where namespace_id = $1 and id = any ($2)
