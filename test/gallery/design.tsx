/** The parts of `src/page/ui/design`, each in each of its states. */
import { type ReactNode, useState } from 'react';
import '../../src/page/ui/design/tokens.css';
import '../../src/page/ui/design/base.css';
import '../../src/page/ui/design/buttons.css';
import { Dialog } from '../../src/page/ui/design/dialog.tsx';
import { Field, useDraft } from '../../src/page/ui/design/field.tsx';
import { Empty, List, Row, Status } from '../../src/page/ui/design/list.tsx';
import { MenuButton } from '../../src/page/ui/design/menu.tsx';
import { ChoiceCards, OneOf } from '../../src/page/ui/design/one-of.tsx';
import { Progress, UsedBar } from '../../src/page/ui/design/progress.tsx';
import { Tabs } from '../../src/page/ui/design/tabs.tsx';
import { MoreIcon } from '../../src/page/ui/design/icons.tsx';

const nothing = () => undefined;

function Example({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="design-example">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function TextField({ label, text, problem }: { label: string; text: string; problem?: string }) {
  const { props } = useDraft({ text, parse: (value) => value, onSave: () => Promise.resolve() });
  return (
    <Field label={label} hint="A hint of one sentence." wrong={problem ?? null}>
      {(given) => <input {...props} {...given} className="field" />}
    </Field>
  );
}

function Fields() {
  const [size, setSize] = useState('m');
  const [reach, setReach] = useState<'talks' | 'folder'>('folder');
  return (
    <>
      <Example title="Field">
        <TextField label="Your name" text="Marcus" />
        <TextField label="Wakes a day" text="1001" problem="From 0 to 1,000." />
      </Example>
      <Example title="Choice">
        <OneOf
          label="Size"
          options={['s', 'm', 'l'].map((value) => ({ value, text: value.toUpperCase() }))}
          value={size}
          onChange={setSize}
        />
        <ChoiceCards
          legend="How far it may go"
          options={[
            { value: 'talks', title: 'Talks only', about: 'No files, no commands' },
            { value: 'folder', title: 'Works in its folder', about: 'Reads and writes files there' },
          ]}
          value={reach}
          onChange={setReach}
        />
      </Example>
    </>
  );
}

/** `dialog`: which shape of it is open over the parts. */
export function DesignParts({ dialog = null }: { dialog?: 'box' | 'side' | null }) {
  return (
    <main className="design-parts">
      <Example title="Button">
        <div className="setting-row">
          <button type="button" className="solid">
            Save
          </button>
          <button type="button" className="solid" disabled>
            Saving…
          </button>
          <button type="button" className="ghost">
            Cancel
          </button>
          <button type="button" className="danger-button">
            Remove
          </button>
          <button type="button" className="link-button">
            Undo
          </button>
        </div>
      </Example>
      <Fields />
      <Example title="List, Row, Status, Empty">
        <List label="Agents">
          <Row about="Writes plan.md" acts={<Status tone="good">Working</Status>}>
            Lyra
          </Row>
          <Row about="Which API key?" acts={<Status tone="warn">Asks you</Status>}>
            Wren
          </Row>
          <Row acts={<Status tone="bad">Failed</Status>}>Sable</Row>
          <Row acts={<Status tone="quiet">Asleep</Status>}>
            An agent with a name that is much longer than any row has room for on a phone
          </Row>
        </List>
        <Empty
          act={
            <button type="button" className="ghost">
              New project
            </button>
          }
        >
          No projects yet.
        </Empty>
      </Example>
      <Example title="Tabs, Menu">
        <Tabs
          label="Agent"
          tabs={['Chat', 'Files', 'Activity'].map((title) => ({ tab: title, title, path: '/' }))}
          shown="Files"
        >
          <MenuButton
            label="More"
            items={[
              { label: 'Rename', run: nothing },
              { label: 'Retire', hint: 'Put to sleep first', disabled: true, run: nothing },
            ]}
          >
            <MoreIcon />
          </MenuButton>
        </Tabs>
      </Example>
      <Example title="Tag, Badge, Dot, Pill">
        <div className="cluster gap-4">
          {(['good', 'warn', 'bad', 'live'] as const).map((tone) => (
            <span key={tone} className="tag" data-tone={tone}>
              {tone}
            </span>
          ))}
          <span className="tag">plain</span>
          <span className="badge">3</span>
          {['live', 'asks', 'asleep', 'lost', 'waits'].map((state) => (
            <i key={state} className={`dot dot-${state}`} aria-hidden="true" />
          ))}
          <span className="pill">
            <i className="dot dot-live" aria-hidden="true" /> Session
          </span>
          <span className="pill danger-box">Not connected</span>
        </div>
      </Example>
      <Example title="Toggle, Pick">
        <div className="cluster gap-4">
          <button type="button" className="toggle" aria-pressed="true">
            Mo
          </button>
          <button type="button" className="toggle" aria-pressed="false">
            Tu
          </button>
        </div>
        <ul className="tiles-s stack gap-4 above-4">
          {['Lyra', 'Wren'].map((name, i) => (
            <li key={name}>
              <label className="picks touchable gap-4 box line pad-2-5">
                <input type="checkbox" defaultChecked={i === 0} />
                {name}
              </label>
            </li>
          ))}
        </ul>
      </Example>
      <Example title="Boxes and lists">
        <div className="stack gap-4">
          <p className="warn-box round pad">
            <strong>Nobody can recover it.</strong> There is no reset.
          </p>
          <p className="danger-box round pad danger">The relay cannot be reached.</p>
          <div className="done-box pad">
            <strong>Done.</strong> The file is written.
          </div>
          <ul className="ruled-between box">
            <li className="pad">One</li>
            <li className="pad">Two</li>
          </ul>
          <ul className="bulleted">
            <li>A point</li>
          </ul>
          <ol className="counted">
            <li> A step</li>
          </ol>
        </div>
      </Example>
      <Example title="Progress">
        <UsedBar share={0.4} />
        <UsedBar share={1} />
        <Progress label="Writing the file" done={3} of={4} />
      </Example>
      {dialog !== null && (
        <Dialog title="Remove Wren?" shape={dialog} onClose={nothing}>
          <p>Files and conversations stay.</p>
          <div className="dialog-ways">
            <button type="button" className="ghost">
              Keep it
            </button>
            <button type="button" className="danger-button">
              Remove
            </button>
          </div>
        </Dialog>
      )}
    </main>
  );
}
