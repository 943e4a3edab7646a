import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { and, clause, compile, doubles, integers, list, literal, name, or, sql, texts } from './sql.ts';
import { run } from './statements.ts';

const textOf = (statement: ReturnType<typeof sql>): string => compile(statement).text;

describe('sql', () => {
  test('parenthesizes interpolated expressions', () => {
    const either = sql`a OR b`;
    expect(textOf(sql`${either} AND c`)).toBe('(a OR b) AND c');
    expect(textOf(and([either, sql`c`]))).toBe('(a OR b) AND (c)');
    expect(textOf(or([sql`a`, sql`${either} AND c`]))).toBe('(a) OR ((a OR b) AND c)');
    expect(textOf(clause`LEFT JOIN t ON ${either}`)).toBe('LEFT JOIN t ON (a OR b)');
    expect(textOf(sql`SELECT ${list([either, clause`${either} AS d`])} FROM ${sql`SELECT 1`}`)).toBe(
      'SELECT (a OR b), (a OR b) AS d FROM (SELECT 1)',
    );
    expect([textOf(and([])), textOf(or([]))]).toEqual(['true', 'false']);
  });

  test('passes strings and lists as parameters, and quotes names and literals', () => {
    const condition = sql`x = ${"o'clock"}`;
    expect(compile(sql`${condition} OR ${condition} OR y = ${'b'}`)).toMatchObject({
      text: '(x = $1) OR (x = $1) OR y = $2',
      values: ["o'clock", 'b'],
    });
    expect(textOf(sql`${texts(['a'])} ${integers([1])} ${doubles([null, 0.5])}`)).toBe('$1 $2 $3');
    expect(textOf(sql`${name('a"b')} ${literal("it's")}`)).toBe(`"a""b" 'it''s'`);
  });

  test('writes numbers without losing precision, and parenthesizes negative numbers', async () => {
    expect(textOf(sql`1 - ${-2}`)).toBe('1 - (-2)');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const number of [0, -1, 2 ** 53 - 1, 0.1, -2.5, 1e300, 5e-324, Number.POSITIVE_INFINITY]) {
      const [row] = await run(connection, sql`SELECT ${number}::DOUBLE AS value`);
      expect(row?.value).toBe(number);
    }
    connection.closeSync();
  });
});
