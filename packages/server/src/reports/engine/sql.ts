/**
 * Composes SQL safely: interpolated expressions are parenthesized unless they are clauses, and strings and lists become
 * parameters.
 */
import { BIGINT, DOUBLE, type DuckDBType, type DuckDBValue, LIST, listValue, VARCHAR } from '@duckdb/node-api';

interface Parameter {
  readonly value: DuckDBValue;
  readonly type: DuckDBType;
}
export interface SQL {
  readonly parts: readonly (string | Parameter)[];
  /** Whether the SQL is interpolated without parentheses. */
  readonly isClause: boolean;
}
/** What can be interpolated. A string becomes a parameter, never SQL. */
type Interpolated = SQL | string | number;

const toClause = (...parts: SQL['parts']): SQL => ({ parts, isClause: true });
const formatNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value) : `CAST('${String(value)}' AS DOUBLE)`;

const toParts = (value: Interpolated): SQL['parts'] => {
  if (typeof value === 'string') return [{ value, type: VARCHAR }];
  if (typeof value === 'number') return [value < 0 ? `(${formatNumber(value)})` : formatNumber(value)];
  return value.isClause ? value.parts : ['(', ...value.parts, ')'];
};
const createTag =
  (isClause: boolean) =>
  (strings: TemplateStringsArray, ...values: readonly Interpolated[]): SQL => ({
    parts: strings.flatMap((text, index) => [...(index === 0 ? [] : toParts(values[index - 1] as Interpolated)), text]),
    isClause,
  });

/** An expression, condition or query, which is parenthesized when interpolated. */
export const sql = createTag(false);
/**
 * Part of a statement that is not an expression, such as `… AS name` or a JOIN. Parts interpolated into it are
 * parenthesized.
 */
export const clause = createTag(true);
export const nothing = toClause();
export const name = (identifier: string): SQL => toClause(`"${identifier.replaceAll('"', '""')}"`);
/** A string literal, for places where DuckDB does not accept parameters, such as file paths. */
export const literal = (text: string): SQL => toClause(`'${text.replaceAll("'", "''")}'`);
export const list = (values: readonly Interpolated[], separator = ', '): SQL =>
  toClause(...values.flatMap((value, index) => [...(index === 0 ? [] : [separator]), ...toParts(value)]));

export const and = (conditions: readonly SQL[]): SQL =>
  conditions.length === 0 ? sql`true` : sql`${list(conditions, ' AND ')}`;
export const or = (conditions: readonly SQL[]): SQL =>
  conditions.length === 0 ? sql`false` : sql`${list(conditions, ' OR ')}`;

/** Lists, each of which is passed as one parameter. */
export const texts = (values: readonly string[]): SQL =>
  toClause({ value: listValue([...values]), type: LIST(VARCHAR) });
export const integers = (values: readonly number[]): SQL =>
  toClause({ value: listValue(values.map(BigInt)), type: LIST(BIGINT) });
export const doubles = (values: readonly (number | null)[]): SQL =>
  toClause({ value: listValue([...values]), type: LIST(DOUBLE) });

/** Returns the text and parameters of a statement. A parameter that occurs several times has a single number. */
export const compile = ({ parts }: SQL): { text: string; values: DuckDBValue[]; types: DuckDBType[] } => {
  const parameters = [...new Set(parts.filter((part) => typeof part !== 'string'))];
  const numbers = new Map(parameters.map((parameter, index) => [parameter, index + 1]));
  return {
    text: parts.map((part) => (typeof part === 'string' ? part : `$${numbers.get(part)}`)).join(''),
    values: parameters.map(({ value }) => value),
    types: parameters.map(({ type }) => type),
  };
};
