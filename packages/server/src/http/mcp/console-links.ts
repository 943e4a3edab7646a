/** Builds links to the console page that shows the same data as a tool's answer. */

/** A console page and its query parameters. */
export interface ConsolePage {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

const dayIn = (timeZone: string, time: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(time);

/** Returns a report's range as console parameters. The console's `to` is the last day in the range. */
export const rangeParameters = (data: object): Readonly<Record<string, string>> => {
  const { from, to, timezone } = data as { readonly from: string; readonly to: string; readonly timezone: string };
  return { from: dayIn(timezone, Date.parse(from)), to: dayIn(timezone, Date.parse(to) - 1) };
};

/** Returns a report's filter and event as the console's parameter `filter`, a list of conditions. */
export const filterParameter = ({
  filter,
  eventID,
  eventName,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> => {
  const event = eventID ?? eventName;
  const conditions = [
    ...(filter ? [typeof filter === 'string' ? JSON.parse(filter) : filter] : []),
    ...(event ? [{ event }] : []),
  ];
  return conditions.length === 0 ? {} : { filter: JSON.stringify(conditions) };
};

export const consoleLink = (root: string, { name, parameters = {} }: ConsolePage): string => {
  const query = new URLSearchParams(parameters).toString();
  return `${root}/console/${name}${query && `?${query}`}`;
};
