/** Saves, lists and deletes views. */
import type { Store } from '../../../store/store.ts';
import { accountOf, type Handlers } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';

export const createViews = (
  store: Pick<Store, 'saveView' | 'listViews' | 'deleteView'>,
): Handlers<'createView' | 'listViews' | 'deleteView'> => ({
  createView: async ({ viewName, viewPage: page, viewQuery: query = '' }, caller) => {
    const { replaced } = await store.saveView({ account: accountOf(caller), viewName, page, query, time: caller.time });
    return { viewName, replaced };
  },

  listViews: async (_, caller) => {
    const views = await store.listViews({ account: accountOf(caller) });
    return {
      view: views.map(({ viewName, page, query, createdTime, updatedTime }) => ({
        viewName,
        viewPage: page,
        viewQuery: query,
        createdTime: isoTime(createdTime),
        updatedTime: isoTime(updatedTime),
      })),
    };
  },

  deleteView: async ({ viewName }, caller) => {
    await store.deleteView({ account: accountOf(caller), viewName });
    return { viewName };
  },
});
