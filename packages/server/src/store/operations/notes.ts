/** Operations on notes, which mark points in time on an account's plots. */
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import type { Note, RequestOf } from '../store.ts';
import { all, db, first, lockAccount, type Operation, run } from './operation.ts';

export function* createNote(request: RequestOf<'createNote'>): Operation<{ noteID: string }> {
  const { account, noteID, noteText, noteTime, time } = request;
  yield* lockAccount(account);
  const notes = db.selectFrom('note').where('account', '=', account);
  const existing = yield* first(
    notes.select('noteID').where('noteTime', '=', noteTime).where('noteText', '=', noteText),
  );
  if (existing) return existing;
  const row = yield* first(notes.select((eb) => eb.fn.countAll<number>().as('count')));
  if (Number(row?.count) >= limits.notesPerAccount) {
    const message = `the account already has ${limits.notesPerAccount} notes: delete some with deleteNote`;
    throw new Refusal('invalid_field', { field: 'noteText', message });
  }
  yield* run(db.insertInto('note').values({ account, noteID, noteText, noteTime, createdTime: time }));
  return { noteID };
}

export const listNotes = ({ account, from, to, limit }: RequestOf<'listNotes'>): Operation<Note[]> =>
  all(
    db
      .selectFrom('note')
      .select(['noteID', 'noteText', 'noteTime', 'createdTime'])
      .where('account', '=', account)
      .where('noteTime', '>=', from)
      .where('noteTime', '<', to)
      .orderBy('noteTime', 'desc')
      .orderBy('noteID')
      .limit(limit),
  );

export function* deleteNote({ account, noteID }: RequestOf<'deleteNote'>): Operation<void> {
  const deleted = yield* run(db.deleteFrom('note').where('account', '=', account).where('noteID', '=', noteID));
  if (deleted === 0) throw new Refusal('unknown_note', { field: 'noteID' });
}
