-- queries/outbox/open.sql
select count(*) as rows, min(written_at) as oldest from dream.outbox where state = 'open'
