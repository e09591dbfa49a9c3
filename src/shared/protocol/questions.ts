/** Questions that an MCP server asks the person during a tool call, as the page shows them. */
import { z } from 'zod';
import { TEXT_FORMATS, type FormField } from '../domain/question-form.ts';
import { common } from './documents.ts';

const preset = <Value extends z.ZodType>(value: Value) =>
  value.nullable().describe('what is sent where the person leaves the field alone; null: nothing is');
const bound = z.number().nullable().describe('inclusive; null: there is none');
const anyField = {
  name: z.string(),
  title: z.string(),
  description: z.string(),
  isRequired: z.boolean(),
};
const options = z.array(z.object({ value: z.string(), title: z.string() })).readonly();

export const formFieldSchema = z.discriminatedUnion('kind', [
  z.object({
    ...anyField,
    kind: z.literal('text'),
    format: z.enum(TEXT_FORMATS).nullable(),
    least: bound,
    most: bound,
    preset: preset(z.string()),
  }),
  z.object({
    ...anyField,
    kind: z.literal('number'),
    isWhole: z.boolean(),
    least: bound,
    most: bound,
    preset: preset(z.number()),
  }),
  z.object({ ...anyField, kind: z.literal('yes-no'), preset: preset(z.boolean()) }),
  z.object({ ...anyField, kind: z.literal('one'), options, preset: preset(z.string()) }),
  z.object({
    ...anyField,
    kind: z.literal('many'),
    options,
    least: bound,
    most: bound,
    preset: preset(z.array(z.string()).readonly()),
  }),
]) satisfies z.ZodType<FormField>;

export const serverQuestionSchema = z.object({
  server: z.string().describe('as the person has named it'),
  message: z.string().describe('the server’s own words: nobody has checked them'),
  fields: z.array(formFieldSchema).readonly().describe('of a question that is over: none'),
  others: z
    .array(common.agentId)
    .readonly()
    .describe('other agents of whom the server has calls under way: it does not say for which it asks'),
  until: common.time.describe('when it is withdrawn where nobody has answered'),
});
export type ServerQuestion = z.infer<typeof serverQuestionSchema>;

export const formContentSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]).nullable(),
);
