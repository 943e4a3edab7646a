/** Builds the columns of an operation's CSV file: its rows' members, in schema order. */
import { type OperationName, operations } from '@firsthand/contract/operations';
import type * as z from 'zod';
import type { Cell } from './csv-line.ts';

type Row = Readonly<Record<string, unknown>>;

interface Column {
  readonly head: string;
  readonly cell: (row: Row) => Cell;
}

/** The request fields that columns depend on. */
export interface CSVRequest {
  readonly include?: readonly string[] | undefined;
  readonly by?: readonly string[] | undefined;
  readonly attrID?: string | undefined;
  readonly visits?: string | undefined;
  readonly goalID?: string | undefined;
  readonly conversion?: string | undefined;
}

/** Whether this request's rows lack a member. */
const isOmitted = (name: OperationName, path: string, request: CSVRequest): boolean => {
  const { include = [], by = [], attrID, visits, goalID, conversion } = request;
  const [member] = path.split('.');
  if (member === 'value') return attrID === undefined;
  if (member === 'firstTouch' || member === 'lastTouch') return !include.includes('touch');
  if (name === 'getEvent') return path === 'claimed' || (path.startsWith('why.') && !include.includes('why'));
  if (name !== 'reportBreakdown') return false;
  if (member === 'visits') return visits === undefined;
  if (member === 'conversions') return goalID === undefined;
  if (member === 'among') return conversion === undefined;
  return member === 'interval' || (member === 'eventName' && !by.includes('event'));
};

/** The subject of an audit entry stays a single cell, because most of its many members are absent. */
const isOneCell = (path: string): boolean => path === 'subject';

const isAttributes = (value: readonly unknown[]): value is readonly { attrID: string; attrValue: string }[] =>
  value.every((one) => typeof one === 'object' && one !== null && 'attrID' in one);

const toText = (value: unknown): Cell => {
  if (typeof value !== 'object' || value === null) return value as Cell;
  if (!Array.isArray(value)) return JSON.stringify(value);
  if (value.every((one) => typeof one !== 'object')) return value.join('; ');
  return JSON.stringify(
    isAttributes(value) ? Object.fromEntries(value.map(({ attrID, attrValue }) => [attrID, attrValue])) : value,
  );
};

const valueAt = (row: Row, [first = '', ...rest]: readonly string[]): unknown => {
  const value = row[first];
  return rest.length === 0 ? value : valueAt((value ?? {}) as Row, rest);
};

const columnAt = (path: readonly string[]): Column => ({
  head: path.join('.'),
  cell: (row) => toText(valueAt(row, path)),
});

/** Returns a column for each attribute that the account lists, and one column for all other attributes. */
const attributeColumns = (listed: readonly string[]): Column[] => {
  const attributesOf = ({ contactAttr }: Row) => contactAttr as readonly { attrID: string; attrValue: string }[];
  const names = new Set(listed);
  return [
    ...listed.map((attrID) => ({
      head: `contactAttr.${attrID}`,
      cell: (row: Row) => attributesOf(row).find((one) => one.attrID === attrID)?.attrValue,
    })),
    {
      head: 'contactAttr',
      cell: (row) => {
        const others = attributesOf(row).filter(({ attrID }) => !names.has(attrID));
        return others.length === 0 ? '' : toText(others);
      },
    },
  ];
};

const tagColumn: Column = {
  head: 'tag',
  cell: ({ tag }) => (tag as readonly { tagName: string }[]).map(({ tagName }) => tagName).join('; '),
};

/** Returns the columns of a member whose columns depend on the request or the account; undefined for other members. */
const specialColumns = (path: string, { by = [] }: CSVRequest, attributes: readonly string[]): Column[] | undefined => {
  if (path === 'values')
    return by.map((head, nth) => ({ head, cell: (row) => (row.values as readonly (string | null)[])[nth] }));
  if (path === 'contactAttr') return attributeColumns(attributes);
  return path === 'tag' ? [tagColumn] : undefined;
};

const unwrapped = (schema: z.ZodType): z.ZodType => {
  const { def } = schema as z.ZodOptional<z.ZodType>;
  return def.type === 'optional' ? unwrapped(def.innerType) : schema;
};

/** Returns the columns of the operation's rows. `attributes` are the attrIDs that the account lists. */
export const columnsOf = (
  name: OperationName,
  list: string,
  request: CSVRequest,
  attributes: readonly string[],
): Column[] => {
  const { shape } = operations[name].output as z.ZodObject;
  const rows = shape[list] as z.ZodArray<z.ZodType>;
  const columnsAt = (schema: z.ZodType, path: readonly string[]): Column[] => {
    const text = path.join('.');
    if (text !== '' && isOmitted(name, text, request)) return [];
    const special = specialColumns(text, request, attributes);
    if (special) return special;
    const { def, shape } = unwrapped(schema) as z.ZodObject<Readonly<Record<string, z.ZodType>>>;
    if (def.type !== 'object' || isOneCell(text)) return [columnAt(path)];
    return Object.entries(shape).flatMap(([member, inner]) => columnsAt(inner, [...path, member]));
  };
  return columnsAt(rows.element, []);
};
