// Written by `tamis setup`. `tamis setup --remove` deletes this file as long as it is unchanged.
//
// Passes the output of OpenCode's own tools through `tamis hook opencode`, and refuses to write its markers into files.
// Whatever goes wrong, OpenCode works as if this file were not here.

import { spawn } from "node:child_process"

const TAMIS = "tamis"
// tamis itself gives up after its own deadline; this is for its start, and for the notes that it makes afterwards.
const GRACE_MS = 250
let deadlineMs = 150
const PRUNED = ["bash", "read", "grep"]
const GUARDED = ["write", "edit", "patch", "apply_patch"]
const MOST_SESSIONS = 64
const MOST_CHARACTERS = 4000

// Runs tamis; an empty reply if anything fails.
function run(args, limitMs, input = "") {
  return new Promise((resolve) => {
    const child = spawn(TAMIS, args, { stdio: ["pipe", "pipe", "ignore"] })
    const deadline = setTimeout(() => {
      child.kill("SIGKILL")
      resolve("")
    }, limitMs)
    let reply = ""
    child.stdin.on("error", () => {})
    child.stdout.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (text) => (reply += text))
    child.on("error", () => resolve(""))
    child.on("close", (code) => {
      clearTimeout(deadline)
      resolve(code === 0 ? reply : "")
    })
    child.stdin.end(input)
  }).catch(() => "")
}

// Sends an event to tamis.
async function hook(event) {
  try {
    return JSON.parse(await run(["hook", "opencode"], deadlineMs + GRACE_MS, JSON.stringify(event))) ?? {}
  } catch {
    return {}
  }
}

// Only the refusal of a write may fail.
const quietly = (handler) => (...values) => handler(...values).catch(() => {})

export const Tamis = async ({ directory }) => {
  // Until the setting is known, the default counts: OpenCode does not wait for it.
  run(["config", "get", "hook.deadline_ms"], deadlineMs + GRACE_MS).then((text) => (deadlineMs = Number(text) || deadlineMs))
  // The latest messages of the person and of the agent, by session: they are the goal.
  const sessions = new Map()

  function session(id) {
    const words = sessions.get(id) ?? {}
    sessions.delete(id)
    sessions.set(id, words)
    if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value)
    return words
  }

  function about(name, input, args) {
    const { person, agent } = session(input.sessionID)
    const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: args }
    return { hook_event_name: name, session_id: input.sessionID, cwd: directory, ...call, person, agent }
  }

  return {
    "chat.message": quietly(async (_input, { message, parts }) => {
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const words = session(message.sessionID)
      words.asked = message.id
      words.person = texts.join("\n").slice(0, MOST_CHARACTERS)
      delete words.agent
    }),

    event: quietly(async ({ event }) => {
      const part = event.type === "message.part.updated" ? event.properties.part : undefined
      if (part?.type !== "text" || !part.text) return
      const words = session(part.sessionID)
      if (part.messageID !== words.asked) words.agent = part.text.slice(-MOST_CHARACTERS)
    }),

    "tool.execute.before": async (input, { args }) => {
      if (!GUARDED.includes(input.tool)) return
      const { decision, reason } = await hook(about("BeforeTool", input, args))
      if (decision === "deny") throw new Error(reason)
    },

    "tool.execute.after": quietly(async (input, result) => {
      if (!PRUNED.includes(input.tool) || typeof result.output !== "string") return
      const event = about("AfterTool", input, input.args)
      const { output } = await hook({ ...event, tool_response: result.output })
      if (typeof output === "string") result.output = output
    }),
  }
}
