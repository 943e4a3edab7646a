/** Handovers: encrypted userUUIDs that a link carries to another of the same customer's domains. */
import * as z from 'zod';
import * as field from './fields.ts';
import { limits } from './limits.ts';
import { response, responseText } from './response.ts';

const hostForm = 'must be a lowercase host as in location.host, such as shop.example or localhost:3000';
const host = z
  .string(field.errorMessage(hostForm))
  .regex(/^(?:[a-z\d._-]{1,253}|\[[a-f\d:.]{2,45}\])(?::\d{1,5})?$/, hostForm)
  .meta({ form: hostForm });

const from = field.describe(host, 'The host of the page that the visitor leaves.', 'shop.example');
const to = field.describe(host, 'The host of the page that the visitor opens.', 'blog.example');

const handoverForm = 'must be a handover from createHandover';
const handover = field.describe(
  z
    .string(field.errorMessage(handoverForm))
    .regex(/^[\w-]{70,160}$/, handoverForm)
    .meta({ form: handoverForm }),
  `The encrypted userUUID, valid for ${limits.handoverSeconds} seconds, between two hosts and for one User-Agent.`,
  'vJ2w8nQh1Zk6Tq0sXc4Rb9LmYd7GfUe3PiOaNxKtEjWHoVrBlCzSgDyMpFu5AIkQmT2vN8wZ4Xc',
);

export const createHandoverInput = z.object({
  userUUID: field.userUUID,
  from,
  to: field.describe(
    field.list(host, limits.hostsPerHandover).refine((hosts) => hosts.length > 0, 'must contain at least one host'),
    'The hosts that the visitor may navigate to.',
    ['blog.example'],
  ),
});

export const createHandoverOutput = response({
  handover: z
    .array(z.object({ to: responseText(to), handover: responseText(handover) }))
    .describe(
      "A handover for each host. Empty if the account has no server token, because the key is derived from that token's hash.",
    ),
});

export const takeHandoverInput = z.object({ handover, from, to });

export const takeHandoverOutput = response({ userUUID: responseText(field.userUUID) });
