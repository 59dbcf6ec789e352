-- queries/temporal_edges/namespace.sql
select namespace_id from temporal_edges where id = ?1
