/** Goals: what an account wants people to do. Reports count who did it. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';
import { pattern } from './filter.ts';

const goalName = field.describe(
  field
    .line(limits.nameLength)
    .refine((name) => name !== '', field.required)
    .meta({ minLength: 1 }),
  'The name of the goal, unique in the account.',
  'Purchase',
);
const eventID = field.describe(field.optional(field.eventID), 'The goal is an event of this kind.');
const eventName = field.describe(
  field.optional(field.filledText(limits.nameLength)),
  'The goal is an event of the kind with this name, as in `eventName` of countEvents.',
  'Paid',
);
const path = field.describe(
  field.optional(pattern),
  `The goal is an event whose attribute \`path\` matches this path, in which \`*\` stands for any text. At most ${limits.wildcardsPerPattern} \`*\`.`,
  '/thank-you/*',
);
const valueField = "An attribute of the goal's events whose values are numbers: adds `value` to the conversions.";

const subjects = ['eventID', 'eventName', 'path'] as const;
type Subject = { readonly [Name in (typeof subjects)[number]]?: unknown };
const countSubjects = (input: Subject): number => subjects.filter((name) => input[name] !== undefined).length;
const onlyOne = 'or `eventName` or `path` is required, and only one of them';

export const createGoalInput = z
  .object({
    goalName,
    eventID,
    eventName,
    path,
    attrID: field.describe(field.optional(field.attrID), valueField, 'amount'),
  })
  .refine((input) => countSubjects(input) === 1, { path: ['eventID'], message: onlyOne });
const goalID = output.responseText(field.goalID);
export const createGoalOutput = output.response({ goalID });

export const updateGoalInput = z
  .object({
    goalID: field.goalID,
    goalName: field.optional(goalName),
    eventID,
    eventName,
    path,
    attrID: field.describe(field.clearable(field.attrID), `${valueField} Null removes it.`, 'amount'),
  })
  .refine((input) => countSubjects(input) <= 1, {
    path: ['eventID'],
    message: 'and `eventName` and `path` exclude each other: send only one of them',
  });
export const updateGoalOutput = output.response({ goalID });

export const listGoalsInput = z.object({});
export const listGoalsOutput = output.response({
  goal: z
    .array(
      z.object({
        goalID,
        goalName: output.responseText(goalName),
        eventID: output.count('The goal is an event of this kind.', 3).optional(),
        eventName: output.text('The goal is an event with this name.', 'Paid').optional(),
        path: output.text('The goal is an event with a path that matches this one.', '/thank-you/*').optional(),
        attrID: output.text('The attribute with the value of the goal; "" for none.', 'amount'),
        createdTime: output.isoTime('When the goal was created.'),
        updatedTime: output.isoTime('When the goal was last changed.'),
      }),
    )
    .describe('The goals, sorted by name.'),
});

export const deleteGoalInput = z.object({ goalID: field.goalID });
export const deleteGoalOutput = output.response({ goalID });
