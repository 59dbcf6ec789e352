-- queries/runs/set_report.sql
update dream_run set report_path = ?2, manifest_sha256 = ?3 where run_id = ?1
