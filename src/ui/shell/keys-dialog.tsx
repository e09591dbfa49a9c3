import { Dialog } from '../parts/dialog.tsx';
import './keys-dialog.css';

const KEYS: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: ['Ctrl', 'K'], does: 'Find any agent, action, page or setting' },
  { keys: ['G'], does: 'To the grid' },
  { keys: ['←', '→', '↑', '↓'], does: 'From seat to seat, in the grid' },
  { keys: ['1', '…', '9'], does: 'To a seat by its number' },
  { keys: ['[', ']'], does: 'To the one before or the next with something new' },
  { keys: ['Enter'], does: 'Open the conversation; in a field: send' },
  { keys: ['M'], does: 'The menu of a seat' },
  { keys: ['C'], does: 'Write' },
  { keys: ['Shift', 'Enter'], does: 'A new line' },
  { keys: ['Esc'], does: 'Close, go back, or leave an edit' },
  { keys: ['?'], does: 'These keys' },
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
