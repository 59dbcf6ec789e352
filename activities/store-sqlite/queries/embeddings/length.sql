-- queries/embeddings/length.sql
-- All vectors of a store have one length; any of them tells it.
select length(vector) as bytes from dream_embedding limit 1
