/** Labels: attributes of an event that the service makes from the request of a browser token. No client can set them. */

export const labelIDs = {
  browser: '$browser',
  os: '$os',
  device: '$device',
  country: '$country',
  /** Only robots have it, in place of the first three. */
  agent: '$agent',
} as const;

/** The values of `$agent`. */
export const agentKinds = { ai: 'AI agent', crawler: 'crawler', automated: 'automated browser' } as const;

/** The attribute that holds the name of an event whose account does not list the name. It is no label, but clients cannot set it either. */
export const unlistedNameID = '$eventName';

const allLabelIDs: ReadonlySet<string> = new Set([...Object.values(labelIDs), unlistedNameID]);

/** Whether only the service sets an attribute, by its attrID: labels and unlisted names. Other attrIDs may begin with `$` too. */
export const isLabelID = (attrID: string): boolean => attrID.startsWith('$') && allLabelIDs.has(attrID);
