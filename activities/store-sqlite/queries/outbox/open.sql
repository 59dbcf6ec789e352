-- queries/outbox/open.sql
select count(*) as rows, min(written_at) as oldest from dream_outbox where state = 'open'
