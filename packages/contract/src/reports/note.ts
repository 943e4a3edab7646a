/** Notes: short texts at points in time, which the console marks on its plots. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';

const noteText = field.describe(
  field
    .line(limits.noteLength)
    .refine((text) => text !== '', field.required)
    .meta({ minLength: 1 }),
  `What happened, in one line of at most ${limits.noteLength} characters.`,
  'Released version 2.4',
);

export const createNoteInput = z.object({
  noteText,
  noteTime: field.describe(field.optional(field.time), 'When it happened; now, if absent.', '2026-11-24T09:30:00Z'),
});
const noteID = output.responseText(field.noteID);
export const createNoteOutput = output.response({ noteID });

export const listNotesInput = z.object({
  from: field.describe(
    field.optional(field.time),
    'Only notes at or after this time. A date without a time is midnight UTC.',
    '2026-11-01',
  ),
  to: field.describe(field.optional(field.time), 'Only notes before this time, in the same form.', '2026-12-01'),
  limit: field.optional(field.pageLimit(limits.notesPerPage)),
});
export const listNotesOutput = output.response({
  note: z
    .array(
      z.object({
        noteID,
        noteText: output.responseText(noteText),
        noteTime: output.isoTime('When it happened.'),
        createdTime: output.isoTime('When the note was created.'),
      }),
    )
    .describe('The newest notes in the range, newest first.'),
  more: output.flag('Whether the range has older notes as well. Use a shorter range to read them.', false),
});

export const deleteNoteInput = z.object({ noteID: field.noteID });
export const deleteNoteOutput = output.response({ noteID });
