/** Operations on goals, the events that an account wants people to log. */
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import type { Goal, RequestOf } from '../store.ts';
import { all, db, lockAccount, type Operation, run } from './operation.ts';

const columns = ['goalID', 'goalName', 'eventID', 'eventName', 'path', 'attrID', 'createdTime', 'updatedTime'] as const;

export const listGoals = ({ account }: RequestOf<'listGoals'>): Operation<Goal[]> =>
  all(db.selectFrom('goal').select(columns).where('account', '=', account).orderBy('goalName'));

/** Throws Refusal('invalid_field') if another goal in the list has this name. */
const checkName = (goals: readonly Goal[], goalID: string, goalName: string | undefined): void => {
  if (!goals.some((goal) => goal.goalName === goalName && goal.goalID !== goalID)) return;
  throw new Refusal('invalid_field', { field: 'goalName', message: '`goalName` is the name of another goal' });
};

export function* createGoal({ account, time, ...goal }: RequestOf<'createGoal'>): Operation<void> {
  yield* lockAccount(account);
  const goals = yield* listGoals({ account });
  checkName(goals, goal.goalID, goal.goalName);
  if (goals.length >= limits.goalsPerAccount) {
    const message = `the account already has ${limits.goalsPerAccount} goals: delete one with deleteGoal`;
    throw new Refusal('invalid_field', { field: 'goalName', message });
  }
  yield* run(db.insertInto('goal').values({ account, ...goal, createdTime: time, updatedTime: time }));
}

export function* updateGoal({ account, goalID, changes, time }: RequestOf<'updateGoal'>): Operation<void> {
  yield* lockAccount(account);
  checkName(yield* listGoals({ account }), goalID, changes.goalName);
  const updated = yield* run(
    db
      .updateTable('goal')
      .set({ ...changes, updatedTime: time })
      .where('account', '=', account)
      .where('goalID', '=', goalID),
  );
  if (updated === 0) throw new Refusal('unknown_goal', { field: 'goalID' });
}

export function* deleteGoal({ account, goalID }: RequestOf<'deleteGoal'>): Operation<void> {
  const deleted = yield* run(db.deleteFrom('goal').where('account', '=', account).where('goalID', '=', goalID));
  if (deleted === 0) throw new Refusal('unknown_goal', { field: 'goalID' });
}
