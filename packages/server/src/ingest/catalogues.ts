import type { InputOf } from '@firsthand/contract/operations';
import type { Catalogues } from '../store/store.ts';

type CheckedCatalogues = Pick<InputOf<'updateAccount'>, 'profile' | 'tag' | 'attr' | 'event'>;

/** The catalogue entries of an account's body as the store takes them: every ID as text, whatever the catalogue. */
export const cataloguesOf = ({ profile, tag, attr, event }: CheckedCatalogues): Catalogues => ({
  ...(profile && {
    profile: profile.map(({ profileID, profileName, browser }) => ({ id: profileID, name: profileName, browser })),
  }),
  ...(tag && { tag: tag.map(({ tagID, tagName, browser }) => ({ id: tagID, name: tagName, browser })) }),
  ...(attr && {
    attr: attr.map(({ attrID, attrName, attrType, browser }) => ({
      id: attrID,
      name: attrName,
      type: attrType,
      browser,
    })),
  }),
  ...(event && {
    event: event.map(({ eventID, eventName, browser }) => ({ id: String(eventID), name: eventName, browser })),
  }),
});
