/**
 * Commands of an agent that take processes, memory, room, output and time without end, and look
 * where they should not.
 */
import { calls } from '../../../support/hands.ts';
import type { Attack } from '../attack.ts';

const COMMANDS = [
  ':(){ :|:& };:',
  'yes | head -c 400000000',
  'head -c 300000000 /dev/zero > big; ls -l big',
  'for i in $(seq 3000); do echo x > "f$i"; done',
  'python3 -c "x = bytearray(600_000_000)"',
  'sleep 30 & disown; setsid sleep 30 &',
  'cat /proc/*/environ /root/.ssh/* /home/*/.roost/* 2>&1 | head -c 20000; env; ls -la / /proc/self/fd',
  'find / -name "sealing.key" -readable 2>/dev/null -exec cat {} +',
  'while :; do :; done',
  'exec 3<>/dev/tcp/127.0.0.1/22; cat <&3',
];

export const commands: Attack = {
  name: 'commands',
  inSession: true,
  async run({ target, of, int, call, drive, found }) {
    const coordination = {
      toolsets: { shell: 'allow', files: 'allow' },
      command_seconds: int(1, 3),
      workspace_megabytes: 100,
    };
    await call('PUT', '/v1/agents/lead/config', { json: { coordination } });
    const answers = await drive(calls('run_command', { command: of(COMMANDS) }));
    for (const answer of answers)
      for (const secret of target.secrets)
        if (answer.includes(secret)) found('a command has read a secret of the first household');
  },
};
