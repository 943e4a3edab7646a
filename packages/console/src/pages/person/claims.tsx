/** Claims: unverified values that browsers sent about a person. Each can be accepted or voided. */
import type { ResponseFor } from '@firsthand/client';
import { api } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { Badge, RelativeTime } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import { nameOfUser } from '../../reading/person.ts';
import { BrowserMark } from './browser-mark.tsx';

type Claim = NonNullable<ResponseFor<'getContact'>['claim']>[number];

const valuesIn = ({ contact }: Claim): string[] => {
  const { contactAttr, ...texts } = contact;
  return [
    ...Object.values(texts).filter(Boolean),
    ...contactAttr.map(({ attrID, attrValue }) => `${attrID}: ${attrValue}`),
  ];
};

const tones = { open: 'open', accepted: 'good', voided: 'bad' } as const;

export const Claims = ({ claims, reload }: { readonly claims: readonly Claim[]; readonly reload: () => void }) => {
  if (claims.length === 0) return null;
  const accept = (claimID: string) =>
    act(() => api.acceptClaim({ claimID }), {
      done: 'Claim accepted. Its values are now the contact’s own.',
      refresh: reload,
    });
  const setVoid = (claimID: string, restore: boolean) =>
    act(() => api.voidClaim({ claimID, restore }), {
      done: restore ? 'Claim restored.' : 'Claim voided. Its link is ignored, too.',
      undo: () => api.voidClaim({ claimID, restore: !restore }),
      refresh: reload,
    });
  return (
    <Card title={`Claims from browsers · ${claims.length}`}>
      <p class="soft">A claim fills only empty fields. Accept saves its values to the contact; Void ignores them.</p>
      <ul class="claims">
        {claims.map((claim) => {
          const { claimID, state, createdTime, userUUID } = claim;
          return (
            <li key={claimID}>
              <p>{valuesIn(claim).join(', ') || 'no values, only that the visitor is this person'}</p>
              <p class="soft">
                <Badge tone={tones[state]}>{state}</Badge> <BrowserMark userUUID={userUUID} /> {nameOfUser(userUUID)},{' '}
                <RelativeTime time={createdTime} />
              </p>
              {canEdit.value && (
                <p class="claim-actions">
                  {state === 'open' && (
                    <button type="button" onClick={() => accept(claimID)}>
                      Accept
                    </button>
                  )}
                  {state !== 'accepted' && (
                    <button type="button" class="quiet" onClick={() => setVoid(claimID, state === 'voided')}>
                      {state === 'voided' ? 'Restore' : 'Void'}
                    </button>
                  )}
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
};
