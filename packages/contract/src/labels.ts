/** Labels: event attributes that the service derives from a browser's request. Clients cannot set them. */

export const labelIDs = {
  browser: '$browser',
  os: '$os',
  device: '$device',
  country: '$country',
  /** Bots have this label instead of browser, os and device. */
  agent: '$agent',
} as const;

/** The values of `$agent`. */
export const agentKinds = { ai: 'AI agent', crawler: 'crawler', automated: 'automated browser' } as const;

/** The attribute that holds an event's unlisted name. It is not a label, but clients cannot set it either. */
export const unlistedNameID = '$eventName';

const allLabelIDs: ReadonlySet<string> = new Set([...Object.values(labelIDs), unlistedNameID]);

/** Whether only the service may set this attribute. Clients may use other attrIDs that begin with `$`. */
export const isLabelID = (attrID: string): boolean => attrID.startsWith('$') && allLabelIDs.has(attrID);
