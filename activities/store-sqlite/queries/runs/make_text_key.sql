-- queries/runs/make_text_key.sql
-- Once per store, from SQLite's own source of randomness, which is seeded by the operating system.
insert into dream_meta (id, text_key) values (1, randomblob(32)) on conflict do nothing
