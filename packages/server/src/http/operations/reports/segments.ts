/** Saves, lists and deletes segments. `filters.ts` applies them. */
import type { Store } from '../../../store/store.ts';
import { accountOf, type Handlers } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';

export const createSegments = (
  store: Pick<Store, 'saveSegment' | 'listSegments' | 'deleteSegment'>,
): Handlers<'createSegment' | 'listSegments' | 'deleteSegment'> => ({
  createSegment: async ({ segmentName, filter }, caller) => {
    const { time } = caller;
    const segment = { account: accountOf(caller), segmentName, filter: JSON.stringify(filter), time };
    const { replaced } = await store.saveSegment(segment);
    return { segmentName, replaced };
  },

  listSegments: async (_, caller) => {
    const segments = await store.listSegments({ account: accountOf(caller) });
    return {
      segment: segments.map(({ segmentName, filter, createdTime, updatedTime }) => ({
        segmentName,
        filter: JSON.parse(filter),
        createdTime: isoTime(createdTime),
        updatedTime: isoTime(updatedTime),
      })),
    };
  },

  deleteSegment: async ({ segmentName }, caller) => {
    await store.deleteSegment({ account: accountOf(caller), segmentName });
    return { segmentName };
  },
});
