/**
 * Documents that records of the relay become: one kind for each type of record, all of one form.
 * See ../records.ts.
 */
import type { z } from 'zod';
import type * as Fields from './fields.ts';
import { defineKind } from './kind.ts';

interface RecordKind<Type extends string, Value extends z.ZodType> {
  readonly type: Type;
  readonly name: string;
  /** Loose: the relay checks what it is given back. */
  readonly value: (fields: typeof Fields) => Value;
  readonly describe: string;
  readonly stream: 'people' | 'talk';
  /**
   * What was said is one document for good, and is found by what it belongs to. Left out: of each
   * record the newest holds.
   */
  readonly within?: (value: z.output<Value>) => string;
  readonly title: (value: z.output<Value>) => string;
  /** Does it stand in the log of what the person changed? Left out: no. */
  readonly isPersons?: (value: z.output<Value>) => boolean;
  /** What it is to people who are asked whether to take it from a file. */
  readonly consent: string;
}

export const defineRecord = <const Type extends string, Value extends z.ZodType>({
  type,
  name,
  value,
  describe,
  stream,
  within,
  isPersons,
  title,
  consent,
}: RecordKind<Type, Value>) =>
  defineKind({
    type,
    version: 1,
    name,
    schema: (fields) =>
      fields.z
        .looseObject({
          ...fields.base,
          type: fields.z.literal(type),
          recordId: fields.id.describe('of the record; with `at` it names the version'),
          agentId: fields.agentIdSchema.optional().describe('whose it is, where it is one agent’s'),
          value: value(fields),
        })
        .describe(describe),
    view: within
      ? { store: 'records', about: (doc) => within(doc.value as z.output<Value>) }
      : {
          store: 'records',
          about: ({ recordId }) => recordId,
          holds: 'newest',
          changedBy: (doc) => (isPersons?.(doc.value as z.output<Value>) ? 'person' : null),
        },
    stream,
    whose: 'household',
    forgotten: 'with-agent',
    consent,
    isRecord: true,
    title: (doc) => title(doc.value as z.output<Value>),
  });
