/** Handovers: texts that carry a userUUID to another domain of the same customer. */
import * as z from 'zod';
import { answer, told } from './answer.ts';
import * as field from './fields.ts';
import { limits } from './limits.ts';

const hostForm = 'must be a host as in location.host, in lower case, such as shop.example or localhost:3000';
const host = z
  .string(field.says(hostForm))
  .regex(/^(?:[a-z\d._-]{1,253}|\[[a-f\d:.]{2,45}\])(?::\d{1,5})?$/, hostForm)
  .meta({ form: hostForm });

const from = field.described(host, 'The host of the page that the visitor leaves.', 'shop.example');
const to = field.described(host, 'The host of the page where the visitor arrives.', 'blog.example');

const handoverForm = 'must be a handover that createHandover returned';
const handover = field.described(
  z
    .string(field.says(handoverForm))
    .regex(/^[\w-]{70,160}$/, handoverForm)
    .meta({ form: handoverForm }),
  `The encrypted userUUID, valid for ${limits.handoverSeconds} seconds, two hosts and one User-Agent.`,
  'vJ2w8nQh1Zk6Tq0sXc4Rb9LmYd7GfUe3PiOaNxKtEjWHoVrBlCzSgDyMpFu5AIkQmT2vN8wZ4Xc',
);

export const createHandoverInput = z.object({
  userUUID: field.userUUID,
  from,
  to: field.described(
    field.list(host, limits.hostsPerHandover).refine((hosts) => hosts.length > 0, 'must hold at least one host'),
    'The hosts that the visitor may go to.',
    ['blog.example'],
  ),
});

export const createHandoverOutput = answer({
  handover: z
    .array(z.object({ to: told(to), handover: told(handover) }))
    .describe('A handover for each host. Empty if the account has no server token: the key is derived from its hash.'),
});

export const takeHandoverInput = z.object({ handover, from, to });

export const takeHandoverOutput = answer({ userUUID: told(field.userUUID) });
