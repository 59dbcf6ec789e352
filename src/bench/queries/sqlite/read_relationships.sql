-- queries/sqlite/read_relationships.sql
-- What planning dedupe needs of relationships.
select id, source_entity_id, target_entity_id, relationship_type from relationships
