-- Every pair of names that stays two.
select low, high from dream.verdict where namespace_id = $1 and ruling = 'keep_apart' order by low, high
