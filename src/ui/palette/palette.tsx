/** One keystroke and some letters: every agent, action, page and setting in one list. */
import { useEffect, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useHousehold, useInfo, useLive, usePending } from '../context.tsx';
import { keyNames, type Around, type Command } from '../commands/command.ts';
import { useWakesOn } from '../shell/wakes-switch.tsx';
import { writingStopped } from '../../state/relay-info.ts';
import { found, listed } from './found.ts';
import './palette.css';

/** What was chosen last, newest first, as long as the page is open. */
let recent: readonly string[] = [];
const RECENT_MOST = 5;
/** As many are drawn; more letters find the rest. */
const SHOWN_MOST = 60;

// In one piece: a field and the list that it goes through.
export default function Palette({ onClose, around }: { onClose: () => void; around: Around }) {
  // What the commands look at: with any of it, the list is another.
  useHousehold((state) => state.roster);
  useLive((state) => state);
  usePending((state) => state.call);
  useInfo(writingStopped);
  useWakesOn();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const ref = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    field.current?.focus();
    return () => {
      dialog?.close();
      // Whatever was chosen may have put the focus elsewhere.
      if (document.activeElement === document.body && before instanceof HTMLElement && before.isConnected)
        before.focus();
    };
  }, []);
  const shown = found(listed(around), typed, recent).slice(0, SHOWN_MOST);
  const chosen = shown[Math.min(at, shown.length - 1)];
  const idOf = (command: Command) => `${list}-${command.id.replaceAll(/\W+/g, '-')}`;
  useEffect(() => {
    document.getElementById(chosen ? idOf(chosen) : '')?.scrollIntoView?.({ block: 'nearest' });
  });
  const run = (command: Command) => {
    recent = [command.id, ...recent.filter((id) => id !== command.id)].slice(0, RECENT_MOST);
    // A dialog keeps the focus for itself while it is open.
    flushSync(onClose);
    command.run();
  };
  return (
    // The backdrop is the dialog itself; its keys are those of the field in it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={ref}
      className="dialog palette"
      aria-label="Find anything"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className="palette-inside">
        <input
          ref={field}
          className="palette-field"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosen ? idOf(chosen) : undefined}
          aria-label="Find an agent, an action, a page or a setting"
          placeholder="Find anything"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            const last = shown.length - 1;
            const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[event.key];
            if (next !== undefined) setAt(Math.max(0, next));
            else if (event.key === 'Enter' && chosen) run(chosen);
            else return;
            event.preventDefault();
          }}
        />
        <ul id={list} role="listbox" aria-label="Found" className="palette-list">
          {shown.map((command, i) => {
            const heads = i === 0 || shown[i - 1]?.group !== command.group;
            return (
              // The field holds the focus, and its keys choose.
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events
              <li
                key={command.id}
                id={idOf(command)}
                role="option"
                aria-selected={command.id === chosen?.id}
                onPointerMove={() => setAt(i)}
                onClick={() => run(command)}
              >
                <span className="palette-label">{command.label}</span>
                {command.hint !== undefined && <span className="palette-hint">{command.hint}</span>}
                {heads && <span className="palette-group">{command.group}</span>}
                {keyNames(command.keys ?? []).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </li>
            );
          })}
        </ul>
        {shown.length === 0 && (
          <p className="palette-none" role="status">
            Nothing here is called so.
          </p>
        )}
      </div>
    </dialog>
  );
}
