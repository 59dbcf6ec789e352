-- queries/runs/now.sql
select strftime('%Y-%m-%dT%H:%M:%f000+00:00', 'now') as now
