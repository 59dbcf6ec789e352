-- queries/spaces/update.sql
-- What is null stays as it is.
update dream.space
   set name = coalesce($2, name), time_zone = coalesce($3, time_zone), dream_mode = coalesce($4, dream_mode)
 where id = $1
