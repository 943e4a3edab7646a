/** Finds the labels of a message's visitor. */
import { isIP } from 'node:net';
import { isRecord } from '@firsthand/contract/checking';
import { labelIDs } from '@firsthand/contract/labels';
import type { Caller } from '../access/caller.ts';
import { type Agent, createAgentRecognizer, unknownAgent } from '../request/agents.ts';
import type { CountryOf } from '../request/country.ts';
import type { RequestFields } from '../request/input.ts';
import { toRecord } from './messages.ts';

/**
 * Returns a function that finds the visitor's browser and country in the message and, with a browser token, in headers.
 */
export const createVisitorFinder = (countryOf: CountryOf | undefined) => {
  const agentOf = createAgentRecognizer();
  return (message: unknown, outer: RequestFields, caller: Caller): Agent | undefined => {
    const own = caller.access.kind === 'browser' ? caller.agent?.() : undefined;
    const { userAgent, ip, library } = { ...outer, ...toRecord(toRecord(message).context) };
    const isBrowser = !isRecord(library) || library.name === 'analytics.js';
    const stated = typeof userAgent === 'string' ? agentOf({ 'user-agent': userAgent }) : undefined;
    const { robot, labels } = stated ?? (isBrowser && own ? own : unknownAgent);
    const country =
      own === undefined
        ? typeof ip === 'string' && isIP(ip) > 0 && countryOf?.(ip)
        : own.labels.find(([attrID]) => attrID === labelIDs.country)?.[1];
    const others = labels.filter(([attrID]) => attrID !== labelIDs.country);
    return { robot, labels: country ? [...others, [labelIDs.country, country]] : others };
  };
};
