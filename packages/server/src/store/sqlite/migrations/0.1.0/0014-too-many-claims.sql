-- A contact that was claimed more often than it may be since: the oldest claims give way at once, with the links that they made,
-- as they do to a new one. Those that were accepted, and those with a link that was verified, stay.
DELETE FROM statement WHERE claim IN (
  SELECT claim FROM (
    SELECT claim, row_number() OVER (PARTITION BY contact ORDER BY claim DESC) AS nth FROM claim
    WHERE NOT accepted
      AND contact IN (SELECT contact FROM claim WHERE NOT accepted GROUP BY contact HAVING count(*) > 1000)
  )
  WHERE nth > 1000 AND claim NOT IN (SELECT claim FROM statement WHERE claim IS NOT NULL AND verified)
);
DELETE FROM claim WHERE claim IN (
  SELECT claim FROM (
    SELECT claim, row_number() OVER (PARTITION BY contact ORDER BY claim DESC) AS nth FROM claim
    WHERE NOT accepted
      AND contact IN (SELECT contact FROM claim WHERE NOT accepted GROUP BY contact HAVING count(*) > 1000)
  )
  WHERE nth > 1000 AND claim NOT IN (SELECT claim FROM statement WHERE claim IS NOT NULL)
);
