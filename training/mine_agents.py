#!/usr/bin/env python3
"""Mines transcripts of coding agents into pruning cases: what an agent read or ran, and which lines it then used.

usage: mine_agents.py --out DIR [--jobs N] [--exclude REGEX] [--kept-out FILE]... SOURCE...

Repositories that a `--kept-out` file lists are skipped and counted (see kept_out.py).

A SOURCE is a folder of transcripts, or a bare or plain git repository (its checked-in files and every
branch or ref with "entire/" in its name, where the `entire` tool keeps transcripts, are read).
A folder named owner+name, or its subfolder `repo`, gives the cases' `repo` owner/name.

Formats: Claude Code JSONL, Codex rollout JSONL, opencode exports, pi JSONL, Copilot CLI events,
Gemini CLI JSON and JSONL, entire's compact JSONL, and SWE-agent .traj.

Written, one case a line, {"id","repo","kind","lang","query","text","gold","context"} with gold as 1-based line numbers.
The context is what the session showed before, the latest first: "edited" and "read" files, "searched" patterns,
"said" by the agent, and the lines of the last failure ("failed"). What it lacks was not there.

agent_read.jsonl   A file was read, and later edited in the session.
    text   the file as read, without line-number prefixes; a part of a file only from 60 lines on
    gold   the non-blank lines of each edit's old text (old_string, or the old side of a patch's hunk);
           for a file written anew, the lines that differ and the neighbours of those inserted.
           Only edits up to the next whole read of the file and the end of the following user request
           count, and only those whose old text is found in the text once (or replaces all).
    query  what the agent said just before (400 characters) + path + " Task: " + the latest request (300)
    Texts of 40 lines or more, gold on at most 40 % of them.
agent_shell.jsonl  A command or a search gave at least 25 lines.
    gold   lines with a word that the agent then used in its next three messages or calls, where
           the word is new (in no earlier message or call of the session, nor in the query) and on at most
           3 lines of the output: an identifier, path or number, or a plain word that few sessions have
           and no earlier output had.
    query  what it said + the call's description + the command or pattern + " Task: " + the request
    Gold on at most 20 % of the lines.

Duplicates, texts over 400 kB and texts with what looks like a secret are dropped. Each repository gives at
most 150 cases of a kind, each session 20, sampled with a fixed seed.
"""
import argparse
import collections
import difflib
import hashlib
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys

from kept_out import KeptOut

MAX_TEXT = 400_000
MAX_BLOB = 60_000_000
LINE_MEAN = 400                  # longer lines on average: data or minified code
PER_REPO, PER_SESSION = 150, 20
SAID, TASK, COMMAND = 400, 300, 300

TRANSCRIPT = re.compile(
    r'(\.jsonl(\.\d+)?|\.traj|(session|trajectory|chat|conversation)[^/]*\.json)$', re.I)
SECRET = re.compile(
    r'sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}'
    r'|xox[abprs]-[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY|eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}'
    r'|npm_[A-Za-z0-9]{36}|glpat-[\w-]{20}|hf_[A-Za-z0-9]{30,}|[sr]k_live_\w{16,}|sb_secret_\w{16,}'
    r'|(?i:api_?key|secret|token|passw(?:or)?d)'
    r'["\']?\s*[:=]\s*["\']?(?=[A-Za-z+/_-]*\d)(?=[\d+/_-]*[A-Za-z])[\w+/-]{28,}')
NOT_A_REQUEST = re.compile(
    r'\s*(<(local-command|command-|system.reminder|environment_context|user_instructions|bash-|task-notification'
    r'|permissions|turn_aborted|INSTRUCTIONS|user_shell|recommended_plugins|skill)|# AGENTS\.md instructions|Caveat: '
    r'|\[Request interrupted|Base directory for this skill)', re.I)
PREAMBLE = re.compile(r'\A(?:<(system_instruction|system_reminder|system-reminder)>.*?</\1>\s*)+', re.S)
NUMBERED = [re.compile(p) for p in (r'^ *\d+→', r'^ *\d+\t', r'^\d{5,}\| ?', r'^\d+: ?', r'^\d+\. ')]
REMINDER = re.compile(r'\n*<system-reminder>.*?</system-reminder>\n*', re.S)
WORD = re.compile(r'[A-Za-z_][A-Za-z0-9_]{3,}(?:[./:-][A-Za-z0-9_]+)*|\d[\d.]{2,}')
PIECE = re.compile(r'[A-Za-z_][A-Za-z0-9_]{3,}|\d[\d.]{2,}')

READ = {'read', 'read_file', 'view', 'readfile', 'open_file', 'view_file'}
SHELL = {'bash', 'shell', 'exec_command', 'shell_command', 'run_shell_command', 'local_shell', 'container.exec',
         'run_in_terminal', 'execute_bash', 'run_terminal_cmd', 'exec', 'powershell', 'execute_command'}
SEARCH = {'grep', 'glob', 'ls', 'find', 'rg', 'multi_grep', 'grep_search', 'search_file_content', 'list_directory',
          'file_search', 'codebase_search', 'list', 'search'}
EDIT = {'edit', 'multiedit', 'str_replace', 'replace', 'apply_patch', 'write', 'write_file', 'edit_file', 'create',
        'str_replace_editor', 'str_replace_based_edit_tool', 'search_replace'}


class Call:
    """A tool call with its result; `said` is what the agent wrote in the same message."""
    __slots__ = ('id', 'name', 'input', 'output', 'said')

    def __init__(self, id, name, input, said=''):
        self.id, self.name, self.output, self.said = id, (name or '').lower(), None, said
        self.input = input if isinstance(input, dict) else {'input': input if isinstance(input, str) else ''}


# --- Reading transcripts: each reader gives (session id, [('user'|'say', text) or ('call', Call)]) ---

def flat(content):
    """The text of a message's content, however it is nested."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return '\n'.join(t for t in map(flat, content) if t)
    if isinstance(content, dict):
        for key in ('text', 'content', 'output', 'result'):
            if key in content and isinstance(content[key], (str, list, dict)):
                return flat(content[key])
    return ''


def parsed(arguments):
    """A call's arguments as a dictionary, where they come as JSON text."""
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except ValueError:
            return {'input': arguments}
    return arguments


class Log:
    """Events in order, calls paired with results, and the words said just before each call."""

    def __init__(self):
        self.events, self.calls, self.said, self.breath = [], {}, '', None

    def user(self, text):
        text = PREAMBLE.sub('', (text or '').strip())
        self.said = ''
        if text and not NOT_A_REQUEST.match(text):
            self.events.append(('user', text))

    def say(self, text, breath=None):
        text = (text or '').strip()
        if text:
            self.events.append(('say', text))
            self.said, self.breath = text, breath

    def call(self, id, name, input):
        if id and id in self.calls and id != 'REDACTED':
            return
        call = Call(id, name, input, self.said)
        self.events.append(('call', call))
        if id:
            self.calls[id] = call
        return call

    def result(self, id, text):
        call = self.calls.get(id)
        if call is not None and call.output is None:
            call.output = text
        self.settle()

    def settle(self):
        """A result arrived, so earlier messages no longer belong to the next call."""
        self.said = ''


def read_claude(rows):
    log, session, seen = Log(), None, set()
    for row in rows:
        session = session or row.get('sessionId')
        message = row.get('message')
        if row.get('type') not in ('user', 'assistant') or not isinstance(message, dict):
            continue
        uid = row.get('uuid')
        if uid in seen:
            continue
        if uid:
            seen.add(uid)
        content, mid = message.get('content'), message.get('id')
        if isinstance(content, str):
            content = [{'type': 'text', 'text': content}]
        for part in content or []:
            if not isinstance(part, dict):
                continue
            kind = part.get('type')
            if row['type'] == 'assistant':
                if kind == 'text':
                    log.say(part.get('text'), mid)
                elif kind == 'tool_use':
                    if log.breath == mid and not log.said:      # parallel calls share what was said
                        log.said = next((t for k, t in reversed(log.events) if k == 'say'), '')
                    log.call(part.get('id'), part.get('name'), part.get('input'))
            elif kind == 'tool_result':
                log.result(part.get('tool_use_id'), flat(part.get('content')))
            elif kind == 'text' and not row.get('isMeta') and not row.get('isCompactSummary'):
                log.user(part.get('text'))
    return session, log.events


def read_compact(rows):
    log = Log()
    for row in rows:
        for part in row.get('content') or []:
            if not isinstance(part, dict):
                continue
            if row.get('type') == 'user':
                log.user(part.get('text'))
            elif part.get('type') == 'text':
                log.say(part.get('text'))
            elif part.get('type') == 'tool_use':
                call = log.call(part.get('id'), part.get('name'), part.get('input'))
                if call is not None:
                    call.output = flat(part.get('result'))
        if row.get('type') == 'assistant':
            log.settle()
    return None, log.events


CODE_STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.S)
CODE_CMD = re.compile(r'exec_command\(\s*\{[^{}]*?cmd\s*:\s*("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`$]*`)', re.S)


def unquoted(text):
    """The value of a JavaScript string literal, approximately."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return text[1:-1].replace('\\n', '\n')


def read_codex(rows):
    log, session = Log(), None
    for row in rows:
        payload = row.get('payload') or {}
        if row.get('type') == 'session_meta':
            session = session or payload.get('id')
        if row.get('type') != 'response_item':
            continue
        kind = payload.get('type')
        if kind == 'message':
            if payload.get('role') == 'user':
                for part in payload.get('content') or []:
                    log.user(flat(part))
            elif payload.get('role') == 'assistant':
                log.say(flat(payload.get('content')))
        elif kind in ('function_call', 'custom_tool_call', 'local_shell_call'):
            input = parsed(next((payload[k] for k in ('arguments', 'input', 'action') if payload.get(k)), None))
            name = payload.get('name') or 'shell'
            if name == 'exec' and isinstance(input, dict) and 'tools.' in str(input.get('input')):
                script, commands = input['input'], CODE_CMD.findall(input['input'])
                name = 'script'
                if '*** Begin Patch' in script:
                    quoted = next((t for t in CODE_STRING.findall(script) if '*** Begin Patch' in t), None)
                    name, input = 'apply_patch', {'input': unquoted(quoted) if quoted else script}
                elif len(commands) == 1 and script.count('tools.') == 1:
                    name, input = 'exec_command', {'cmd': unquoted(commands[0])}
            log.call(payload.get('call_id'), name, input)
        elif kind in ('function_call_output', 'custom_tool_call_output'):
            output = payload.get('output')
            if isinstance(output, str) and output.startswith('{"output"'):
                output = parsed(output)
            text = flat(output)
            match = re.search(r'\A(?:(?:Chunk ID|Wall time|Process (?:exited|running)|Exit code|Original token count|'
                              r'Total output lines|Script completed)[^\n]*\n)+Output:\n+', text)
            text = text[match.end():] if match else text
            log.result(payload.get('call_id'), re.sub(r'\ATotal output lines: \d+\n+', '', text))
    return session, log.events


def read_opencode(doc):
    log = Log()
    for message in doc.get('messages') or []:
        role = (message.get('info') or {}).get('role')
        for part in message.get('parts') or []:
            if part.get('type') == 'text' and not part.get('synthetic'):
                (log.user if role == 'user' else log.say)(part.get('text'))
            elif part.get('type') == 'tool':
                state = part.get('state') or {}
                call = log.call(part.get('callID'), part.get('tool'), state.get('input'))
                if call is not None:
                    call.output = state.get('output') if isinstance(state.get('output'), str) else None
        if role == 'assistant':
            log.settle()
    return (doc.get('info') or {}).get('id'), log.events


def read_pi(rows):
    log, session = Log(), None
    for row in rows:
        if row.get('type') == 'session':
            session = session or row.get('id')
        message = row.get('message')
        if row.get('type') != 'message' or not isinstance(message, dict):
            continue
        role, content = message.get('role'), message.get('content')
        if role == 'toolResult':
            log.result(message.get('toolCallId'), flat(content))
            continue
        for part in content if isinstance(content, list) else [{'type': 'text', 'text': content}]:
            if part.get('type') == 'text':
                (log.user if role == 'user' else log.say)(part.get('text'))
            elif part.get('type') == 'toolCall':
                log.call(part.get('id'), part.get('name'), part.get('arguments'))
    return session, log.events


def read_copilot(rows):
    log, session = Log(), None
    for row in rows:
        data, kind = row.get('data') or {}, row.get('type')
        if kind == 'session.start':
            session = session or data.get('sessionId')
        elif kind == 'user.message':
            log.user(flat(data.get('content')))
        elif kind == 'assistant.message':
            log.say(flat(data.get('content')))
        elif kind == 'tool.execution_start':
            log.call(data.get('toolCallId'), data.get('toolName'), parsed(data.get('arguments')))
        elif kind == 'tool.execution_complete':
            log.result(data.get('toolCallId'), flat(data.get('result')))
    return session, log.events


def read_gemini(messages, session):
    log, last = Log(), {}
    for message in messages:                      # an entry may be written again as it grows: the last one counts
        if message.get('id'):
            last[message['id']] = message
    for message in last.values():
        if message.get('type') == 'user':
            log.user(flat(message.get('content')))
        elif message.get('type') in ('gemini', 'qwen'):
            log.say(flat(message.get('content')))
            for tool in message.get('toolCalls') or []:
                call = log.call(tool.get('id'), tool.get('name'), tool.get('args'))
                if call is not None:
                    outputs = [((r.get('functionResponse') or {}).get('response') or {}).get('output')
                               for r in tool.get('result') or [] if isinstance(r, dict)]
                    call.output = re.sub(r'\AOutput: ', '', '\n'.join(o for o in outputs if isinstance(o, str)))
            log.settle()
    return session, log.events


def read_traj(doc):
    log = Log()
    for message in doc.get('history') or []:
        if message.get('role') == 'user' and not message.get('is_demo') and not log.events:
            log.user(flat(message.get('content')))
    for number, step in enumerate(doc.get('trajectory') or []):
        log.say(step.get('thought'))
        call = log.call(str(number), 'bash', {'command': (step.get('action') or '').strip()})
        call.output = step.get('observation')
        log.settle()
    return (doc.get('info') or {}).get('instance_id'), log.events


def read_transcript(text):
    """(session id, events) of a transcript in any format known here, or None."""
    head = text.lstrip()[:1]
    if head != '{':
        return None
    rows = []
    for line in text.split('\n'):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                if not rows:
                    break
                continue
            if isinstance(row, dict):
                rows.append(row)
    if not rows or len(rows) == 1:
        try:
            doc = json.loads(text)
        except ValueError:
            return None
        if isinstance(doc.get('messages'), list) and doc['messages'] and isinstance(doc['messages'][0], dict):
            if 'parts' in doc['messages'][0]:
                return read_opencode(doc)
            return read_gemini(doc['messages'], doc.get('sessionId'))
        if isinstance(doc.get('trajectory'), list):
            return read_traj(doc)
        return None
    kinds = {row.get('type') for row in rows[:400]}
    if 'response_item' in kinds:
        return read_codex(rows)
    if 'gemini' in kinds:
        return read_gemini(rows, rows[0].get('sessionId'))
    if 'tool.execution_start' in kinds:
        return read_copilot(rows)
    if kinds & {'user', 'assistant'}:
        compact = any(row.get('type') == 'assistant' and 'message' not in row and 'content' in row for row in rows)
        return read_compact(rows) if compact else read_claude(rows)
    if 'message' in kinds and 'session' in kinds:
        return read_pi(rows)
    return None


# --- Reads and the edits that followed ---

def path_of(call):
    """The file a call names, or ''."""
    for key in ('file_path', 'filePath', 'path', 'absolute_path', 'filename'):
        if isinstance(call.input.get(key), str):
            return call.input[key]
    return ''


def command_of(call):
    """The shell command of a call, or ''."""
    for key in ('command', 'cmd', 'input'):
        value = call.input.get(key)
        if isinstance(value, list):
            return value[-1] if len(value) > 2 and value[0].endswith('sh') else ' '.join(map(str, value))
        if isinstance(value, str):
            return value
    return ''


SHELL_READ = re.compile(r"^\s*(?:cat|nl -ba|sed -n ['\"]?\d+,\d+p['\"]?)\s+(['\"]?)([\w@./+~-]+\.\w+)\1"
                        r"(?:\s*\|\s*sed -n ['\"]?\d+,\d+p['\"]?)?\s*$")


def numbers_off(text):
    """The text without line-number prefixes, when nearly all its lines have them."""
    lines = text.split('\n')
    if lines and not lines[-1].strip():
        lines.pop()
    for prefix in NUMBERED:
        if lines and sum(bool(prefix.match(line)) for line in lines) >= 0.95 * len(lines):
            return '\n'.join(prefix.sub('', line, count=1) for line in lines)
    return None


def read_of(call):
    """(path, text, whole) of a call that read a file, or None."""
    text = call.output
    if not text:
        return None
    if call.name in READ or (call.name.startswith('str_replace') and call.input.get('command') == 'view'):
        path = path_of(call)
        text = REMINDER.sub('', text)
        match = re.search(r'<content>\n?(.*?)(?:\n\n\([^\n]*\))?\n</content>', text, re.S) or \
            re.search(r'<file>\n?(.*?)(?:\n\n\([^\n]*\))?\n</file>', text, re.S)
        if match:
            text = match.group(1)
        elif '<type>directory</type>' in text or text.startswith(('Error', 'File does not exist', '<error>')):
            return None
        text = re.sub(r"\AHere's the result of running `cat -n`[^\n]*\n", '', text)
        text = re.sub(r'\n*\[(?:\d+ more lines|Showing lines|Truncated)[^\n]*\]\s*\Z', '', text)
        bare = numbers_off(text)
        if bare is None and call.name not in ('read', 'read_file'):
            return None
        text = text if bare is None else bare
        whole = not any(call.input.get(k) for k in ('offset', 'limit', 'view_range', 'startLine', 'start_line'))
        return (path, text, whole) if path else None
    if call.name in SHELL:
        match = SHELL_READ.match(command_of(call))
        if match:
            bare = numbers_off(text)
            return match.group(2), (bare if 'nl -ba' in command_of(call) and bare is not None else text), False
    return None


def patch_edits(patch):
    """(path, old text, replace all) of each hunk of a Codex-style patch."""
    path, hunk, edits = None, [], []

    def close():
        old = [line[1:] for line in hunk if line[:1] in (' ', '-') or not line]
        if path and any(line.strip() for line in old) and any(line[:1] in '+-' for line in hunk if line):
            edits.append((path, '\n'.join(old), False))
        hunk.clear()
    for line in patch.split('\n'):
        if line.startswith('*** '):
            close()
            match = re.match(r'\*\*\* (Update|Delete) File: (.*)', line)
            if match or 'Move to' not in line:
                path = match.group(2).strip() if match and match.group(1) == 'Update' else None
        elif line.startswith('@@'):
            close()
        elif path:
            hunk.append(line)
    close()
    return edits


def edits_of(call):
    """[(path, old text or None, replace all, new text)] of a call that edits; old None: written anew."""
    given = call.input
    if call.output and re.match(r'\s*(<tool_use_error>|Error|String to replace not found|Failed)', call.output):
        return []
    patch = next((v for v in given.values() if isinstance(v, str) and '*** Begin Patch' in v), None)
    if patch:
        return [(p, o, a, '') for p, o, a in patch_edits(patch[patch.index('*** Begin Patch'):])]
    if call.name not in EDIT:
        return []
    path, edits = path_of(call), []
    for edit in [given] + [e for e in (given.get('edits') or []) if isinstance(e, dict)]:
        names = ('old_string', 'oldString', 'oldText', 'old_str')
        old = next((edit[k] for k in names if isinstance(edit.get(k), str)), None)
        if old and old.strip():
            edits.append((path, old, bool(edit.get('replace_all') or edit.get('replaceAll')), ''))
    if not edits and call.name in ('write', 'write_file') and isinstance(given.get('content'), str):
        edits.append((path, None, False, given['content']))
    return edits if path else []


def same_file(a, b):
    a, b = a.replace('\\', '/').lstrip('./'), b.replace('\\', '/').lstrip('./')
    return a == b or a.endswith('/' + b) or b.endswith('/' + a)


def touched(lines, old, everywhere, new):
    """0-based numbers of the lines an edit needed, or an empty set when its old text is not there (once)."""
    if old is None:
        gold = set()
        if len(lines) > 3000:
            return gold
        for op, a, b, _, _ in difflib.SequenceMatcher(None, lines, new.split('\n'), autojunk=False).get_opcodes():
            if op in ('replace', 'delete'):
                gold.update(range(a, b))
            elif op == 'insert':
                gold.update(n for n in (a - 1, a) if 0 <= n < len(lines))
        return {n for n in gold if lines[n].strip()}
    wanted = old.split('\n')
    while wanted and not wanted[-1].strip():
        wanted.pop()
    while wanted and not wanted[0].strip():
        wanted.pop(0)
    if not wanted:
        return set()
    if len(wanted) == 1:
        starts = [n for n, line in enumerate(lines) if wanted[0].strip() in line]
    else:
        bare = [line.rstrip() for line in lines]
        want = [line.rstrip() for line in wanted]
        starts = [n for n in range(len(lines) - len(want) + 1)
                  if bare[n + 1:n + len(want) - 1] == want[1:-1]
                  and bare[n].endswith(want[0].lstrip()) and bare[n + len(want) - 1].startswith(want[-1])]
    if len(starts) != 1 and not (everywhere and starts):
        return set()
    return {n for s in starts for n in range(s, s + len(wanted)) if lines[n].strip()}


def tidy(text):
    return (text or '').strip()


def query_of(said, subject, task):
    return (tidy(tidy(said)[:SAID]) + ' ' + subject).strip() + ' Task: ' + tidy(task[:TASK])


def read_cases(events):
    task, request = '', 0
    requests = []
    for kind, value in events:
        request += kind == 'user'
        requests.append(request)
    reads = [read_of(value) if kind == 'call' else None for kind, value in events]
    edits = [edits_of(value) if kind == 'call' else [] for kind, value in events]
    for index, (kind, call) in enumerate(events):
        if kind == 'user':
            task = call
        read = reads[index]
        if not read or not task:
            continue
        path, text, whole = read
        lines = text.split('\n')
        if os.path.basename(path).startswith('.env') and 'example' not in path:
            continue
        if len(text) > MAX_TEXT or len(lines) < (40 if whole else 60):
            continue
        gold = set()
        for later in range(index + 1, len(events)):
            if requests[later] > requests[index] + 1:
                break
            again = reads[later]
            if again and again[2] and same_file(again[0], path):
                break
            for edited, old, everywhere, new in edits[later]:
                if same_file(edited, path) and (old is not None or whole):
                    gold |= touched(lines, old, everywhere, new)
        if gold and len(gold) <= 0.4 * len(lines):
            yield {'id': f'{index}', 'repo': '', 'kind': 'read', 'lang': os.path.splitext(path)[1].lower() or 'text',
                   'query': query_of(call.said, path, task), 'text': text, 'gold': sorted(n + 1 for n in gold)}


# --- What the session showed before ---

FAILED = re.compile(r'\b(error|failed|failure|panicked|exception|traceback|cannot|undefined|not found)\b|\w+(Error|Exception)\b|✕|✖|^E   ', re.I)
SOUGHT = re.compile(r"\b(?:rg|grep|ag|git grep)\b((?: -\S+)*) +(\"[^\"]+\"|'[^']+'|\S+)")


def context_of(events, index):
    """What a scorer could know before the call at `index`: see the head of this file."""
    found = {'edited': [], 'read': [], 'searched': [], 'said': [], 'failed': []}

    def put(what, value, most):
        if value and value not in found[what] and len(found[what]) < most:
            found[what].append(value)
    for kind, value in reversed(events[max(0, index - 150):index]):
        if kind == 'say':
            put('said', value[:400], 3)
        if kind != 'call':
            continue
        for path, *_ in edits_of(value):
            put('edited', path, 8)
        read = read_of(value)
        if read:
            put('read', read[0], 12)
        elif value.name in SEARCH:
            put('searched', tidy(flat(value.input.get('pattern') or value.input.get('query') or ''))[:160], 6)
        elif value.name in SHELL:
            for _, pattern in SOUGHT.findall(command_of(value)):
                put('searched', pattern.strip('"\'')[:160], 6)
            if value.output and not found['failed']:
                failed = [line.strip()[:200] for line in value.output[-20000:].split('\n') if FAILED.search(line)]
                found['failed'] = failed[:12] if len(failed) < 60 else []
    return {what: values for what, values in found.items() if values and not SECRET.search('\n'.join(values))}


# --- Commands and the words that the agent took from their output ---

def words(text):
    """Words of a text: identifiers, paths and numbers whole, and their parts."""
    found = set()
    for word in WORD.findall(text):
        word = word.rstrip('.')
        found.add(word)
        if not word.isidentifier():
            found.update(PIECE.findall(word))
    return found


def is_name(word):
    """Looks like an identifier, a path or a number rather than a word of prose."""
    return bool(re.search(r'[_\d./:-]|[a-z][A-Z]', word))


def spoken(value, limit=6000):
    """All strings in a call's input, to look for words in."""
    if isinstance(value, str):
        return value[:limit]
    if isinstance(value, dict):
        return '\n'.join(spoken(v, limit) for v in value.values())
    if isinstance(value, list):
        return '\n'.join(spoken(v, limit) for v in value)
    return ''


def shell_cases(events, common):
    task, known, shown = '', set(), set()
    for index, (kind, call) in enumerate(events):
        if kind == 'user':
            task = call
        if kind != 'call':
            known |= words(call)
            continue
        known |= words(spoken(call.input))
        output = call.output
        if not output:
            continue
        fits = (call.name in SHELL or call.name in SEARCH) and task and len(output) <= MAX_TEXT and not read_of(call)
        if fits:
            if call.name in SHELL:
                about = tidy(flat(call.input.get('description') or call.input.get('explanation') or ''))
                subject = f'{about} {tidy(command_of(call))[:COMMAND]}'.strip()
            else:
                sought = next((call.input[k] for k in ('pattern', 'query', 'path') if call.input.get(k)), '')
                subject = tidy(flat(sought))[:COMMAND]
            lines = REMINDER.sub('', output).rstrip('\n').split('\n')
            query = query_of(call.said, subject, task)
            if len(lines) >= 25 and subject:
                said, calls, used = 0, 0, []
                for later_kind, later in events[index + 1:index + 12]:
                    if later_kind == 'user':
                        break
                    if later_kind == 'say':
                        said += 1
                        used.append(later[:6000])
                    else:
                        calls += 1
                        used.append(spoken(later.input))
                    if calls >= 3 or said >= 3:
                        break
                used = words('\n'.join(used)) - known - words(query)
                used = {w for w in used if len(w) >= 5 and (
                    is_name(w) or (len(w) >= 6 and w not in shown and w.lower() not in common))}
                gold = set()
                if used:
                    on = collections.defaultdict(list)
                    for number, line in enumerate(lines):
                        for word in words(line) & used:
                            on[word].append(number)
                    gold = {n for numbers in on.values() if len(numbers) <= 3 for n in numbers}
                if gold and len(gold) <= 0.2 * len(lines):
                    yield {'id': f'{index}', 'repo': '', 'kind': 'shell', 'lang': 'log', 'query': query,
                           'text': '\n'.join(lines), 'gold': sorted(n + 1 for n in gold)}
        shown |= words(output)


# --- Sources ---

def git(folder, *args):
    return subprocess.run(['git', '-C', folder, *args], capture_output=True).stdout


def transcripts(source):
    """(name, bytes) of each possible transcript below a folder or in a git repository, the largest first."""
    if git(source, 'rev-parse', '--git-dir').strip() in (b'.', b'.git'):
        refs = git(source, 'for-each-ref', '--format=%(refname)').decode().split()
        blobs = {}
        for ref in ['HEAD'] + [r for r in refs if 'entire/' in r][:3000]:
            for entry in git(source, 'ls-tree', '-r', '-l', '-z', ref).decode('utf8', 'replace').split('\0'):
                meta, _, path = entry.partition('\t')
                fields = meta.split()
                size = int(fields[3]) if len(fields) == 4 and fields[3].isdigit() else 0
                if 4000 < size < MAX_BLOB and TRANSCRIPT.search(path):
                    blobs.setdefault(fields[2], (size, path))
        for sha, (_, path) in sorted(blobs.items(), key=lambda b: (-b[1][0], b[0])):
            yield path, git(source, 'cat-file', 'blob', sha)
        return
    files = [os.path.join(d, f) for d, _, names in os.walk(source) for f in names if TRANSCRIPT.search(f)]
    for file in sorted(files, key=lambda f: (-os.path.getsize(f), f)):
        if os.path.getsize(file) < MAX_BLOB:
            with open(file, 'rb') as handle:
                yield os.path.relpath(file, source), handle.read()


def repo_name(source):
    parts = os.path.abspath(source).split(os.sep)
    return next((p.replace('+', '/', 1) for p in reversed(parts) if '+' in p), parts[-1])


def sessions(source, exclude, most=MAX_BLOB):
    """(session id, events, new call ids) of each transcript that adds calls to those seen, the largest first."""
    seen, exports = set(), set()
    for name, data in transcripts(source):
        if len(data) > most:
            continue
        text = data.decode('utf8', 'replace')
        if exclude and exclude.search(name):
            continue
        head = re.search(r'"id": "(ses_\w+)"', text[:200])     # an export holds its whole session: the largest will do
        if head and head.group(1) in exports:
            continue
        try:
            found = read_transcript(text)
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            continue
        if not found or not found[1]:
            continue
        session, events = found
        if head:
            exports.add(head.group(1))
        if exclude and any(exclude.search(path_of(c) + ' ' + command_of(c)) for k, c in events if k == 'call'):
            continue
        ids = {c.id for k, c in events if k == 'call' and c.id and c.id != 'REDACTED'}
        if ids and not ids - seen:
            continue
        fresh = ids - seen
        seen |= ids
        yield session or hashlib.sha1(name.encode()).hexdigest(), events, fresh


def count_words(job):
    """Lower-case words of what was said, each once a session, over a sample of a source's sessions."""
    source, exclude = job
    counts, total = collections.Counter(), 0
    for _, events, _ in sessions(source, exclude, most=1_000_000):
        found = set()
        for kind, value in events:
            if kind != 'call':
                found |= {w.lower() for w in PIECE.findall(value[:20000])}
        counts.update(found)
        total += 1
        if total >= 6:
            break
    return counts, total


def fingerprint(case):
    return hashlib.sha1('\0'.join((case['kind'], case['text'], case['query'][:200])).encode('utf8', 'replace')).digest()


def mine(job):
    """The capped read and shell cases of one source."""
    source, exclude, common = job
    repo, out = repo_name(source), {'read': [], 'shell': []}
    taken, hashes, count = collections.Counter(), set(), 0
    for session, events, fresh in sessions(source, exclude):
        count += 1
        for kind, cases in (('read', read_cases(events)), ('shell', shell_cases(events, common))):
            drawn = []
            for case in cases:
                call = events[int(case['id'])][1]
                if call.id and call.id != 'REDACTED' and call.id not in fresh:
                    continue
                mark = fingerprint(case)
                if mark in hashes or SECRET.search(case['text']) or SECRET.search(case['query']):
                    continue
                if exclude and exclude.search(case['query']):
                    continue
                if '\0' in case['text'] or len(case['text']) > LINE_MEAN * (case['text'].count('\n') + 1):
                    continue
                hashes.add(mark)
                drawn.append(case)
            random.Random(session).shuffle(drawn)
            room = PER_SESSION - taken[session, kind]
            for case in drawn[:max(room, 0)]:
                taken[session, kind] += 1
                short = session[4:16] if session.startswith('ses_') else session[:8]
                out[kind].append({**case, 'id': f'{short}:{case["id"]}', 'repo': repo, 'context': context_of(events, int(case['id']))})
    for kind in out:
        random.Random(repo).shuffle(out[kind])
        out[kind] = out[kind][:PER_REPO]
    return repo, count, out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--out', required=True)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--exclude', help='skip transcripts whose name, paths or commands match')
    parser.add_argument('--kept-out', action='append', default=[], metavar='FILE', help='skip the repositories that FILE lists')
    parser.add_argument('sources', nargs='+')
    args = parser.parse_args()
    kept_out = KeptOut(args.kept_out)
    sources = kept_out.allowed(args.sources, repo_name)
    exclude = re.compile(args.exclude) if args.exclude else None
    os.makedirs(args.out, exist_ok=True)
    with multiprocessing.Pool(args.jobs, maxtasksperchild=4) as pool:
        counts, total = collections.Counter(), 0
        for some, number in pool.imap_unordered(count_words, [(s, exclude) for s in sources]):
            counts.update(some)
            total += number
        common = frozenset(w for w, n in counts.items() if n > 0.05 * total)
        print(f'{total} sessions counted, {len(common)} common words', file=sys.stderr)
        files = {k: open(os.path.join(args.out, f'agent_{k}.jsonl.tmp'), 'w') for k in ('read', 'shell')}
        seen = set()
        for repo, number, cases in pool.imap(mine, [(s, exclude, common) for s in sources]):
            kept = collections.Counter()
            for kind in files:
                for case in cases[kind]:
                    if fingerprint(case) not in seen:
                        seen.add(fingerprint(case))
                        kept[kind] += 1
                        files[kind].write(json.dumps(case) + '\n')
                files[kind].flush()
            print(f'{repo}: {number} sessions, {kept["read"]} reads, {kept["shell"]} shell',
                  file=sys.stderr, flush=True)
    for kind, file in files.items():
        file.close()
        os.replace(file.name, file.name[:-4])
    print(kept_out.report(), file=sys.stderr)


if __name__ == '__main__':
    main()
