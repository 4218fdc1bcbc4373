import torch
import torch.nn.functional as F


def train(args, env, model, optimizer):
    model.train()
    state = env.reset()
    done = True
    episode_length = 0

    for segment in range(args.max_segments):
        if done:
            hx, cx = model.init_state()
        else:
            hx = hx.data

        values, log_probs, rewards, entropies = [], [], [], []

        for step in range(args.num_steps):
            episode_length += 1
            value, logit, (hx, cx) = model((state.unsqueeze(0), (hx, cx)))
            prob = F.softmax(logit, dim=-1)
            log_prob = F.log_softmax(logit, dim=-1)
            entropies.append(-(log_prob * prob).sum(1, keepdim=True))

            action = prob.multinomial(num_samples=1).detach()
            log_prob = log_prob.gather(1, action)

            state, reward, done = env.step(action.item())
            done = done or episode_length >= args.max_episode_length
            reward = max(min(reward, 1), -1)

            values.append(value)
            log_probs.append(log_prob)
            rewards.append(reward)

            if done:
                episode_length = 0
                state = env.reset()
                break

        R = torch.zeros(1, 1)
        if not done:
            value, _, _ = model((state.unsqueeze(0), (hx, cx)))
            R = value.detach()
        values.append(R)

        policy_loss = 0
        value_loss = 0
        gae = torch.zeros(1, 1)
        for i in reversed(range(len(rewards))):
            R = args.gamma * R + rewards[i]
            advantage = R - values[i]
            value_loss = value_loss + 0.5 * advantage.pow(2)

            # Generalized Advantage Estimation
            delta_t = rewards[i] + args.gamma * values[i + 1] - values[i]
            gae = gae * args.gamma * args.gae_lambda + delta_t.detach()
            policy_loss = policy_loss - log_probs[i] * gae - args.entropy_coef * entropies[i]

        optimizer.zero_grad()
        (policy_loss + args.value_loss_coef * value_loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
        optimizer.step()
        print("segment %d  length %d  reward %.4f  value loss %.5f"
              % (segment, len(rewards), sum(rewards), value_loss.item()))
