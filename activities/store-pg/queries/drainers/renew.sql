-- queries/drainers/renew.sql
update dream.drainer
   set until = clock_timestamp() + make_interval(secs => $3)
 where namespace_id = $1 and epoch = $2 and holder is not null
