import { expect, it } from 'vitest';
import { ArgumentError, argumentsOf } from '../../../../../server/platform/processes/invocation.ts';

it('puts the end of options before operands, and paths behind a mark of their own', () => {
  const git = { program: 'git', options: ['diff', '-M'], mark: '--end-of-options', operands: ['a', 'b'] } as const;
  expect(argumentsOf({ ...git, paths: ['-x', '--output=y'] })).toEqual([
    ...['diff', '-M', '--end-of-options', 'a', 'b', '--', '-x', '--output=y'],
  ]);
});

it('puts no mark where there is no operand', () => {
  expect(argumentsOf({ program: 'git', options: ['version'] })).toEqual(['version']);
});

it('gives a program that another starts its own options', () => {
  const inner = { program: '/bin/bash', options: ['-c', 'true'] };
  const box = { program: 'bwrap', options: ['--bind', '/a', '/b'], runs: inner };
  expect(argumentsOf(box)).toEqual(['--bind', '/a', '/b', '--', '/bin/bash', '-c', 'true']);
  expect(argumentsOf({ program: '/bin/sh', options: ['-c', 'x', 'sh'], mark: null, runs: inner })).toEqual([
    ...['-c', 'x', 'sh', '/bin/bash', '-c', 'true'],
  ]);
});

it.each(['--output=/etc/x', '-', '-x'])('refuses the operand %s', (operand) => {
  expect(() => argumentsOf({ program: 'git', options: ['diff'], operands: ['a', operand] })).toThrow(ArgumentError);
});

it('refuses a NUL in any argument', () => {
  for (const where of ['options', 'operands', 'paths'] as const)
    expect(() => argumentsOf({ program: 'git', [where]: ['a\0b'] })).toThrow(ArgumentError);
});
