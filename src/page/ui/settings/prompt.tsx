/** Settings: the words that wake an agent, edited, checked and previewed. */
import { useEffect, useId, useRef, useState } from 'react';
import { parseTemplate, PLACEHOLDERS } from '../../../shared/domain/prompts.ts';
import { SETTING_TEXT_MAX } from '../../../shared/domain/settings.ts';
import { retold, t } from '../../language/t.ts';
import { errorText } from '../../state/ports.ts';
import { wakeAround, wakePromptOf } from '../../state/wake-context.ts';
import { payloadOf, type WakeShare } from '../../state/wake-sizes.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { AgentOptions } from '../parts/choices.tsx';
import { useNow } from '../hooks.ts';
import { TEMPLATES } from '../protocol-templates.ts';
import { asBeginning, count } from '../text/sizes.ts';

/** The prompt that one agent would read, with its real context. */
function Preview({ template }: { template: string }) {
  const { wakeSizes } = useRoost();
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  const agents = [...roster.seats.values()];
  const [chosen, setChosen] = useState(agents[0]?.agentId ?? '');
  const [share, setShare] = useState<WakeShare | null>(null);
  const now = useNow();
  const [failed, setFailed] = useState<string | null>(null);
  const agent = roster.byId.get(chosen);
  useEffect(() => {
    if (!agent) return undefined;
    let current = true;
    wakeSizes.read([agent]).then(
      ([read]) => current && setShare(read ?? null),
      (error: unknown) => current && setFailed(errorText(error)),
    );
    return () => {
      current = false;
    };
  }, [wakeSizes, agent]);

  if (agents.length === 0)
    return <p className="settings-note under-6 ink-2 text-3">{t`There is no agent yet. SUMMON first.`}</p>;
  const payload = share ? payloadOf(share) : null;
  const prompt = payload
    ? wakePromptOf(payload, wakeAround(roster, settings, now), { ...TEMPLATES, wake: template })
    : null;
  return (
    <div className="prompt-preview">
      <label className="ink-2 text-3">
        {t`Agent`}{' '}
        <select className="field field-select" value={chosen} onChange={(event) => setChosen(event.target.value)}>
          <AgentOptions agents={agents} />
        </select>
      </label>
      {failed !== null && <p role="alert">{t`Could not load this. ${failed}`}</p>}
      {/* Scrollable, so that it can be reached by keyboard. */}
      <pre
        className="prompt-text break as-written ground-0 pad-6 scroll box"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        dir="auto"
        aria-label={t`Preview`}
      >
        {prompt === null ? '…' : prompt.ok ? prompt.text : retold(prompt.reason)}
      </pre>
    </div>
  );
}

/** The template of the wake prompt: edited, validated while the person types, and previewed. */
export function PromptSection() {
  const actions = useActions();
  const { notices } = useRoost();
  const template = useHousehold((state) => state.settings.wakeTemplate);
  const current = template === '' ? TEMPLATES.wake : template;
  const [text, setText] = useState(current);
  const [message, setMessage] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const parsed = parseTemplate(text, PLACEHOLDERS.wake);
  const long = text.length > SETTING_TEXT_MAX.wakeTemplate;
  const empty = text.trim() === '';
  const wrong = long
    ? t`It has ${count(text.length)} characters, and there is room for ${count(SETTING_TEXT_MAX.wakeTemplate)}.`
    : empty
      ? t`Fill this in.`
      : parsed.ok
        ? null
        : retold(parsed.reason);
  const changed = text !== current;

  const save = async (value: string) => {
    const saved = await actions.saveSetting('wakeTemplate', value);
    if (saved.ok)
      notices.info(value === '' ? t`Undone.` : t`Saved`, {
        label: t`Undo`,
        run: () => {
          setText(current);
          setMessage(null);
          void actions.saveSetting('wakeTemplate', template);
        },
      });
    setMessage(saved.ok ? t`Saved` : t`Could not save this. ${saved.reason}`);
    return saved.ok;
  };
  const insert = (name: string) => {
    const box = field.current;
    if (!box) return;
    const token = `{{${name}}}`;
    const next = `${text.slice(0, box.selectionStart)}${token}${text.slice(box.selectionEnd)}`;
    const caret = box.selectionStart + token.length;
    setText(next);
    setMessage(null);
    requestAnimationFrame(() => {
      box.focus();
      box.setSelectionRange(caret, caret);
    });
  };

  return (
    <>
      <p className="settings-note under-6 ink-2 text-3">{t`The first message that an agent reads when it wakes. With ${'{{soul}}'} its soul is here instead of in its instructions.`}</p>
      <div className="setting">
        <label htmlFor={id}>{t`Template`}</label>
        <textarea
          ref={field}
          id={id}
          className="field prompt-field pad-wide"
          value={text}
          spellCheck
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-state`}
          onChange={(event) => {
            setText(event.target.value);
            setMessage(null);
          }}
        />
        <p id={`${id}-state`} className="setting-state" role="status" data-wrong={wrong !== null}>
          {wrong ??
            message ??
            (changed ? t`Not saved yet` : template === '' ? t`the original` : asBeginning(t`changed`))}
        </p>
        <div className="setting-row">
          <button
            type="button"
            className="solid"
            disabled={!changed || wrong !== null}
            onClick={() => void save(text === TEMPLATES.wake ? '' : text)}
          >{t`Save`}</button>
          {changed && <button type="button" className="ghost" onClick={() => setText(current)}>{t`Discard`}</button>}
          {(template !== '' || text !== TEMPLATES.wake) && (
            <button
              type="button"
              className="ghost"
              onClick={() => {
                setText(TEMPLATES.wake);
                if (template !== '') void save('');
              }}
            >{t`Restore the original`}</button>
          )}
        </div>
      </div>
      <h3>{t`Placeholders`}</h3>
      <ul className="placeholders gap-5 stack">
        {PLACEHOLDERS.wake.map((name) => (
          <li className="line gap-4 ink-3 text-2" key={name}>
            <button
              type="button"
              className="chip touchable text-start framed-strong no-fill rounded text-2 ink-2 pad-3-5"
              onClick={() => insert(name)}
            >
              <code className="ink-2">{`{{${name}}}`}</code>
            </button>
          </li>
        ))}
      </ul>
      <p className="setting-hint">
        {t`${<code className="ink-2">{'{{#if soul}} … {{/if}}'}</code>} is left out when it is empty.`}
      </p>
      {wrong === null && (
        <>
          <h3>{t`Preview`}</h3>
          <Preview template={text} />
        </>
      )}
    </>
  );
}
