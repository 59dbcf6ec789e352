-- queries/pg/copy_relationships.sql
-- What planning dedupe needs of relationships.
copy (select id, source_entity_id, target_entity_id, relationship_type from relationships) to stdout (format binary)
