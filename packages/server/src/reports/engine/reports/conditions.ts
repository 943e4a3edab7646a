/** Writes the attributes, kinds and conditions of a report's events as SQL. */
import type { Condition, ReportQuery } from '../../queries.ts';
import type { Source } from '../source.ts';
import { and, clause, name as column, list, or, type SQL, sql } from '../sql.ts';

/** Returns a pattern as a regular expression of RE2, which takes linear time. */
const toExpression = (pattern: string): string =>
  `(?s)${pattern.replace(/[\\.+?^${}()|[\]]/g, '\\$&').replaceAll('*', '.*')}`;

/** Returns functions that write conditions as SQL. They add the columns that the SQL uses to `read`. */
export const createConditions = (source: Source, query: ReportQuery, read: Set<string>) => {
  /**
   * Returns the merged IDs of an attribute. The attribute's value is that of the first of these IDs that an event has.
   */
  const listIDs = (attrID: string): readonly string[] =>
    query.mergedIDs?.attributes.find((ids) => ids.includes(attrID)) ?? [attrID];
  const readIn = (from: 'text' | 'number', attrID: string): SQL => {
    const value = source.columns[from](attrID);
    read.add(value.column);
    return value.sql;
  };
  /** Returns the value of an attribute: text, or NULL. */
  const text = (attrID: string): SQL => {
    const texts = listIDs(attrID).map((id) => readIn('text', id));
    return texts.length === 1 ? (texts[0] as SQL) : sql`coalesce(${list(texts)})`;
  };
  /** Returns the value of an attribute as a DOUBLE; NULL unless it is a decimal number. */
  const number = (attrID: string): SQL => {
    const ids = listIDs(attrID);
    if (ids.length === 1) return readIn('number', attrID);
    const cases = ids.map((id) => clause`WHEN ${readIn('text', id)} IS NOT NULL THEN ${readIn('number', id)}`);
    return sql`CASE ${list(cases, ' ')} END`;
  };
  const eventID = (): SQL => {
    read.add('eventID');
    return column('eventID');
  };
  /** Returns the event's eventID, or the eventID into which it was merged. */
  const kind = (): SQL => {
    const cases = (query.mergedIDs?.events ?? []).map(
      ([target, ...others]) => clause`WHEN "eventID" IN (${list(others)}) THEN ${target as number}`,
    );
    return cases.length === 0 ? eventID() : sql`CASE ${list(cases, ' ')} ELSE ${eventID()} END`;
  };
  /** Returns SQL that is TRUE or FALSE, never NULL. */
  const meets = (condition: Condition): SQL => {
    if ('and' in condition) return and(condition.and.map(meets));
    if ('or' in condition) return or(condition.or.map(meets));
    if ('not' in condition) return sql`NOT ${meets(condition.not)}`;
    if ('contacts' in condition || 'did' in condition || 'personFirst' in condition) return source.isOf(condition);
    if ('eventIDs' in condition)
      return condition.eventIDs.length === 0 ? or([]) : sql`${eventID()} IN (${list(condition.eventIDs)})`;
    const { attrID } = condition;
    if ('exists' in condition) return sql`(${text(attrID)} IS NOT NULL) = ${condition.exists ? and([]) : or([])}`;
    if ('is' in condition)
      return condition.is.length === 0 ? or([]) : sql`coalesce(${text(attrID)} IN (${list(condition.is)}), false)`;
    if ('contains' in condition) return sql`coalesce(contains(${text(attrID)}, ${condition.contains}), false)`;
    if ('matches' in condition)
      return sql`coalesce(regexp_full_match(${text(attrID)}, ${toExpression(condition.matches)}), false)`;
    if ('below' in condition) return sql`coalesce(${number(attrID)} < ${condition.below}, false)`;
    return sql`coalesce(${number(attrID)} > ${condition.above}, false)`;
  };

  return { text, number, kind, meets };
};
