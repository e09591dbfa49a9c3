/** The form with which an MCP server asks the person for values. */
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import {
  checkForm,
  type FormField,
  type FormValue,
  type Misfit,
  soundsSecret,
  type TextFormat,
} from '../../../shared/domain/question-form.ts';
import type { ServerQuestion, ToolCall } from '../../../shared/protocol/approvals.ts';
import { t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { mcpToolOf } from '../text/tool-phrases.ts';
import { useRoost } from '../context.tsx';
import { MoreIcon } from '../design/icons.tsx';
import { MenuButton } from '../design/menu.tsx';
import { clockTime, dayWithin } from '../text/time.ts';
import { revealed } from '../text/unseen.ts';
import { useNow } from '../hooks.ts';
import { namedIn, useTeammates } from '../use-somebody.ts';
import { names } from '../text/sizes.ts';
import '../design/fields.css';
import './approvals.css';
import { useAction } from '../design/use-action.ts';

/**
 * ms in which a new or changed list of questions accepts no approval. A press may be meant for what
 * stood there before.
 */
const SETTLES_MS = 600;

/** Whether `waiting`, which names all that is shown, has been the same for a moment. */
export function useSettled(waiting: string): boolean {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(waiting), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [waiting]);
  return settled === waiting;
}

const INPUT_TYPES: Readonly<Record<TextFormat, string>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};
/** Characters from which on a text gets a field of several lines. */
const LONG_CHARS = 200;

/** The value of a field: a text, or the chosen options. Undefined: untouched. */
type Typed = string | readonly string[] | undefined;

const twoDigits = (count: number) => String(count).padStart(2, '0');
/** A moment in the format of `datetime-local`, in this device's time zone. */
function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return '';
  const date = [time.getFullYear(), twoDigits(time.getMonth() + 1), twoDigits(time.getDate())].join('-');
  return `${date}T${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
}
/** The same moment with its zone, as the protocol requires. */
function wholeTime(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
}

/** The value of an option. A server's option may be an empty text, which differs from no choice. */
const chosen = (value: string) => `=${value}`;

const NUMBER = /^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d+)?$/i;

/** The initial value of an untouched field. */
function presetOf(field: FormField): string | readonly string[] {
  const { preset } = field;
  if (field.kind === 'many') return field.preset ?? [];
  if (preset === null) return '';
  if (field.kind === 'one' || field.kind === 'yes-no') return chosen(String(preset));
  return field.kind === 'text' && field.format === 'date-time' ? localTime(String(preset)) : String(preset);
}

/** The value that is sent; null: nothing, since the person has cleared the field. */
function valueOf(field: FormField, typed: string | readonly string[]): FormValue | null {
  if (typeof typed !== 'string') return typed;
  if (field.kind === 'number') {
    const text = typed.trim();
    if (text === '') return null;
    return NUMBER.test(text) ? Number(text.replace(',', '.')) : Number.NaN;
  }
  if (typed === '') return null;
  if (field.kind === 'yes-no') return typed === chosen('true');
  if (field.kind === 'one') return typed.slice(chosen('').length);
  return field.kind === 'text' && field.format === 'date-time' ? wholeTime(typed) : typed;
}

function misfitText(misfit: Misfit, field: FormField): string {
  const least = 'least' in field ? (field.least ?? 0) : 0;
  const most = 'most' in field ? (field.most ?? 0) : 0;
  switch (misfit) {
    case 'missing':
      return t`Fill this in.`;
    case 'kind':
    case 'unknown':
      return field.kind === 'number' ? t`Write a number.` : t`This does not fit.`;
    case 'short':
      return t`At least ${least} characters.`;
    case 'long':
      return t`At most ${most} characters.`;
    case 'email':
      return t`Write an e-mail address.`;
    case 'uri':
      return t`Write a whole address, such as https://example.org.`;
    case 'date':
      return t`Choose a date.`;
    case 'date-time':
      return t`Choose a date and a time.`;
    case 'whole':
      return t`Write a whole number.`;
    case 'low':
      return t`At least ${least}.`;
    case 'high':
      return t`At most ${most}.`;
    case 'option':
      return t`This does not fit.`;
    case 'few':
      return t`At least ${least}.`;
    case 'many':
      return t`At most ${most}.`;
  }
}

interface FieldProps {
  readonly field: FormField;
  readonly id: string;
  readonly shown: string | readonly string[];
  readonly misfit: Misfit | undefined;
  readonly onType: (typed: Typed) => void;
}

function Field({ field, id, shown, misfit, onType }: FieldProps) {
  const { title, description, isRequired, kind } = field;
  const notes = [description !== '' && `${id}-about`, misfit !== undefined && `${id}-wrong`].filter(
    (note) => note !== false,
  );
  const named = (
    <>
      <span dir="auto">{title}</span>
      {/* A single field says so by its role. */}
      {isRequired && <em className="ink-3 text-2 regular" aria-hidden={kind !== 'many'}>{t`required`}</em>}
    </>
  );
  const about = (
    <>
      {description !== '' && (
        <p id={`${id}-about`} className="setting-hint" dir="auto">
          {description}
        </p>
      )}
      {misfit !== undefined && (
        <p id={`${id}-wrong`} className="text-2 danger">
          {misfitText(misfit, field)}
        </p>
      )}
    </>
  );
  const common = {
    id,
    'aria-invalid': misfit !== undefined,
    'aria-required': isRequired,
    ...(notes.length > 0 ? { 'aria-describedby': notes.join(' ') } : {}),
  };
  if (kind === 'many') {
    const ticked: readonly string[] = typeof shown === 'string' ? [] : shown;
    return (
      <fieldset
        id={id}
        className="question-field no-pad no-frame one-column stack gap-3 narrow break"
        tabIndex={-1}
        {...(notes.length > 0 ? { 'aria-describedby': notes.join(' ') } : {})}
      >
        <legend className="text-3 medium">{named}</legend>
        {field.options.map((option) => (
          <label key={option.value} className="tick-line text-3 medium">
            <input
              type="checkbox"
              checked={ticked.includes(option.value)}
              onChange={({ target }) =>
                onType(
                  field.options
                    .map(({ value }) => value)
                    .filter((value) => (value === option.value ? target.checked : ticked.includes(value))),
                )
              }
            />
            <span dir="auto">{option.title}</span>
          </label>
        ))}
        {about}
      </fieldset>
    );
  }
  const text = typeof shown === 'string' ? shown : '';
  const type = ({ target }: { readonly target: { readonly value: string } }) => onType(target.value);
  const options =
    kind === 'one'
      ? field.options
      : kind === 'yes-no'
        ? [
            { value: 'true', title: t`Yes` },
            { value: 'false', title: t`No` },
          ]
        : null;
  const format = kind === 'text' ? field.format : null;
  const isLong =
    kind === 'text' && format === null && ((field.most ?? 0) > LONG_CHARS || (field.preset ?? '').includes('\n'));
  return (
    <div className="question-field no-pad no-frame one-column stack gap-3 narrow break">
      <label className="text-3 medium" htmlFor={id}>
        {named}
      </label>
      {options !== null ? (
        <select className="field" {...common} value={text} onChange={type}>
          <option value="">{t`Nothing chosen`}</option>
          {options.map(({ value, title: shownAs }) => (
            <option key={value} value={chosen(value)}>
              {shownAs}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea className="field" rows={3} {...common} value={text} onChange={type} />
      ) : (
        <input
          className="field"
          dir="auto"
          autoComplete="off"
          {...common}
          type={format === null ? 'text' : INPUT_TYPES[format]}
          {...(kind === 'number' ? { inputMode: 'decimal' as const } : {})}
          value={text}
          onChange={type}
        />
      )}
      {about}
    </div>
  );
}

/** All texts of the server, in which it might ask for what it must not. */
const wordsOf = ({ message, fields }: ServerQuestion) => [
  message,
  ...fields.flatMap(({ name, title, description }) => [name, title, description]),
];

/**
 * A form with which an MCP server asks the person. The input stays in this card until it is sent.
 */
export function QuestionCard({ call, question }: { call: ToolCall; question: ServerQuestion }) {
  const calls = approvalsOf(useRoost());
  const mates = useTeammates();
  const mate = mates.find(call.agentId);
  const nameOf = namedIn(mates);
  const now = useNow();
  const [typed, setTyped] = useState<Readonly<Record<string, Typed>>>({});
  const [misfits, setMisfits] = useState<ReadonlyMap<string, Misfit>>(new Map());
  const { busy, act } = useAction();
  const settled = useSettled(call.callId);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const { server, message, fields, leftOut = [], others, until } = question;
  const tool = mcpToolOf(call.tool)?.tool ?? call.tool;
  const idOf = (field: FormField) => `${id}-${fields.indexOf(field)}`;

  const send = (event: FormEvent) => {
    event.preventDefault();
    if (busy || !settled) return;
    const answers = Object.fromEntries(
      fields.flatMap((field) => {
        const own = Object.hasOwn(typed, field.name) ? typed[field.name] : undefined;
        return own === undefined ? [] : [[field.name, valueOf(field, own)] as const];
      }),
    );
    const checked = checkForm(fields, answers);
    if (checked.ok) {
      setMisfits(new Map());
      act(() => calls.send(call, answers));
      return;
    }
    const found = new Map(checked.misfits);
    setMisfits(found);
    const first = fields.find(({ name }) => found.has(name));
    if (first) form.current?.querySelector<HTMLElement>(`[id="${idOf(first)}"]`)?.focus();
  };
  const later = call.later ? [] : [{ label: t`Not now`, run: () => act(() => calls.answer(call, 'later', '')) }];
  return (
    <article
      className="call-card pad-6 round-l one-column gap-4 stack ground-1 tint"
      aria-labelledby={id}
      style={{ '--c': mate.color }}
    >
      <h3 className="break text-4 medium" id={id}>
        {t`${(
          <span className="agent-name named" dir="auto">
            {server}
          </span>
        )} asks you something`}
      </h3>
      <p className="pretty text-2 ink-2">
        <span>{t`${mate.name} uses its tool ${tool}, which waits for your answer.`}</span>
        {others.length > 0 && <span>{` ${t`It may also ask for ${names(others.map(nameOf))}.`}`}</span>}
      </p>
      <figure className="question-said stack gap-3">
        <figcaption className="ink-2 text-2">{t`In the words of ${server}:`}</figcaption>
        <blockquote className="break ground-2 pad as-written scroll-y" dir="auto">
          {revealed(message)}
        </blockquote>
      </figure>
      {soundsSecret(wordsOf(question)) && (
        <p className="question-warning pad text-3 round" role="note">
          {t`This sounds like a password, a key or a card number. No MCP server may ask for that here, and Roost never does. Decline unless you are sure.`}
        </p>
      )}
      {leftOut.length > 0 && (
        <p className="pretty text-2 ink-2">{t`Left out, because Roost cannot show them: ${leftOut.join(', ')}.`}</p>
      )}
      <form ref={form} className="one-column gap-5 stack" noValidate onSubmit={send}>
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            id={idOf(field)}
            shown={(Object.hasOwn(typed, field.name) ? typed[field.name] : undefined) ?? presetOf(field)}
            misfit={misfits.get(field.name)}
            onType={(value) => setTyped({ ...typed, [field.name]: value })}
          />
        ))}
        <p className="pretty text-2 ink-2">
          <span>{t`Written by the server, not by Roost. Your answer goes to ${server} alone, which may tell your agent. Roost stores which fields you sent, and no value.`}</span>{' '}
          <span>{t`Asked ${dayWithin(call.askedAt, now)} ${clockTime(call.askedAt)}. It is withdrawn at ${clockTime(until)}.`}</span>
        </p>
        <div className="to-end gap-4 cluster">
          {later.length > 0 && (
            <MenuButton label={t`More answers`} items={later}>
              <MoreIcon />
            </MenuButton>
          )}
          <button
            type="button"
            className="ghost"
            disabled={busy}
            onClick={() => act(() => calls.answer(call, 'no', ''))}
          >{t`Decline`}</button>
          <button type="submit" className="solid" disabled={busy || !settled}>{t`Send`}</button>
        </div>
      </form>
    </article>
  );
}
