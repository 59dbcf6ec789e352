-- queries/runs/now.sql
select clock_timestamp() as now
