/** Creates, changes, lists and deletes goals, and finds the goal of a report. */
import type { Filter } from '@firsthand/contract/reports/filter';
import { nanoid } from 'nanoid';
import { pathAttrID } from '../../../reports/attributes.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { Goal, Store } from '../../../store/store.ts';
import { accountOf, type Handlers } from '../../access/caller.ts';
import { isoTime } from '../../responses/iso-time.ts';

type Subject = Pick<Goal, 'eventID' | 'eventName' | 'path'>;

/** Returns a goal's event or page; undefined if none of these fields is set. */
const toSubject = ({ eventID, eventName, path }: { [Name in keyof Subject]: Subject[Name] | undefined }) =>
  eventID === undefined && eventName === undefined && path === undefined
    ? undefined
    : { eventID: eventID ?? null, eventName: eventName ?? null, path: path ?? null };

const noSubject: Subject = { eventID: null, eventName: null, path: null };

export const createGoals = (
  store: Pick<Store, 'createGoal' | 'updateGoal' | 'listGoals' | 'deleteGoal'>,
): Handlers<'createGoal' | 'updateGoal' | 'listGoals' | 'deleteGoal'> => ({
  createGoal: async ({ goalName, attrID = '', eventID, eventName, path }, caller) => {
    const goalID = nanoid();
    const subject = toSubject({ eventID, eventName, path }) ?? noSubject;
    await store.createGoal({ account: accountOf(caller), goalID, goalName, ...subject, attrID, time: caller.time });
    return { goalID };
  },

  updateGoal: async ({ goalID, goalName, attrID, eventID, eventName, path }, caller) => {
    const changes = {
      ...(goalName !== undefined && { goalName }),
      ...(attrID !== undefined && { attrID: attrID ?? '' }),
      ...toSubject({ eventID, eventName, path }),
    };
    await store.updateGoal({ account: accountOf(caller), goalID, changes, time: caller.time });
    return { goalID };
  },

  listGoals: async (_, caller) => {
    const goals = await store.listGoals({ account: accountOf(caller) });
    return {
      goal: goals.map(({ goalID, goalName, eventID, eventName, path, attrID, createdTime, updatedTime }) => ({
        goalID,
        goalName,
        ...(eventID !== null && { eventID }),
        ...(eventName !== null && { eventName }),
        ...(path !== null && { path }),
        attrID,
        createdTime: isoTime(createdTime),
        updatedTime: isoTime(updatedTime),
      })),
    };
  },

  deleteGoal: async ({ goalID }, caller) => {
    await store.deleteGoal({ account: accountOf(caller), goalID });
    return { goalID };
  },
});

/** Returns the filter that matches the events of a goal, and the attribute with their value. */
export const findGoal = async (
  store: Pick<Store, 'listGoals'>,
  account: number,
  goalID: string,
): Promise<{ readonly filter: Filter; readonly value: string | null }> => {
  const goal = (await store.listGoals({ account })).find((each) => each.goalID === goalID);
  if (!goal) throw new Refusal('unknown_goal', { field: 'goalID' });
  const { path, eventID, eventName, attrID } = goal;
  const filter = path === null ? { event: [eventID ?? (eventName as string)] } : { attrID: pathAttrID, matches: path };
  return { filter, value: attrID === '' ? null : attrID };
};
