"""What somebody may have meant by a key that a recipe does not have.

Candidates are the keys of all sections: one that the field usually calls so, one of that name in another section, or
one that is spelled almost alike.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_LR = ("train.lr", "sft.lr")
_BATCH = ("train.batch_size", "sft.batch_size")
_CLIP = ("train.clip_low", "train.clip_high")
_HORIZON = ("rollout.max_steps", "evaluate.max_steps")
_MAX_TOKENS = ("rollout.sampling.max_tokens", "evaluate.sampling.max_tokens")
_TEMPERATURE = ("rollout.sampling.temperature", "evaluate.sampling.temperature")

ALIASES: dict[tuple[str, ...], str] = {
    _LR: "lr learning_rate",
    (
        "train.batch_size",
        "sft.batch_size",
    ): "batch_size train_batch_size mini_batch_size ppo_mini_batch_size global_batch_size gradient_accumulation_steps",
    ("train.micro_batch_tokens",): (
        "micro_batch_size per_device_train_batch_size ppo_micro_batch_size ppo_max_token_len_per_gpu"
    ),
    ("train.groups_per_iteration",): "rollout_batch_size generation_batch_size num_prompts prompts_per_step groups",
    ("train.dynamic_sampling",): "filter_groups filter_zero_advantages",
    ("rollout.group_size",): "num_generations n_samples samples_per_prompt rollouts_per_example n g",
    ("train.kl_coef",): "kl kl_coeff kl_coefficient kl_loss_coef kl_beta init_kl_coef beta",
    ("train.kl_estimator",): "kl_loss_type kl_penalty",
    ("train.entropy_coef",): "entropy entropy_coeff entropy_coefficient entropy_bonus",
    _TEMPERATURE: "temp",
    _MAX_TOKENS: "max_new_tokens max_completion_length max_completion_tokens max_response_length response_length",
    ("rollout.max_context_tokens",): (
        "max_length max_seq_len max_seq_length max_model_len vllm_max_model_length context_length seq_len"
    ),
    ("rollout.max_staleness",): "staleness max_off_policy_steps max_off_policy_threshold staleness_threshold",
    ("train.iterations",): "num_iterations total_steps total_training_steps num_steps training_steps steps",
    ("sft.epochs", "train.ppo_epochs"): "num_epochs num_train_epochs n_epochs",
    ("train.grad_clip",): "max_grad_norm clip_grad clip_grad_norm gradient_clipping grad_norm_clip max_norm",
    _CLIP: "clip clip_eps clip_epsilon clip_range cliprange clip_ratio epsilon eps",
    ("train.clip_high",): "epsilon_high clip_ratio_high",
    ("train.clip_low",): "epsilon_low clip_ratio_low",
    ("train.dual_clip",): "delta clip_ratio_c",
    ("train.adam_betas",): "betas adam_beta1 adam_beta2 betas1 betas2",
    ("train.warmup_steps",): "warmup num_warmup_steps lr_warmup_steps",
    ("train.schedule", "sft.schedule"): "lr_scheduler lr_scheduler_type scheduler",
    ("train.optimizer",): "optim",
    ("train.policy_loss",): "loss loss_type loss_mode loss_fn importance_sampling_level",
    ("train.normalizer",): "loss_agg_mode loss_aggregation",
    ("train.old_logprobs",): "bypass_mode",
    ("train.correction",): (
        "rollout_is rollout_correction vllm_importance_sampling_correction vllm_importance_sampling_mode"
    ),
    ("train.advantage",): "adv_estimator advantage_estimator scale_rewards algorithm algo",
    ("train.ranks",): "gpus num_gpus n_gpus n_gpus_per_node num_train_gpus world_size nproc_per_node",
    ("train.gradient_checkpointing",): "enable_gradient_checkpointing activation_checkpointing",
    ("train.optimizer_offload",): "optim_cpu_offload offload_optimizer",
    ("train.save_total_limit",): "max_actor_ckpt_to_keep keep_last",
    ("train.save_every",): "save_steps save_interval save_freq",
    ("model.path",): "model_name model_name_or_path base_model checkpoint",
    ("model.freeze_vision",): "freeze_vision_tower freeze_vision_encoder",
    ("model.dtype",): "precision torch_dtype bf16 fp16",
    ("model.lora.r",): "lora_r lora_rank rank",
    ("rollout.concurrency",): "num_workers workers num_envs n_envs max_inflight parallel",
    _HORIZON: "max_turns max_assistant_turns max_tool_calling_iterations horizon max_episode_steps",
    ("evaluate.every",): "eval_every eval_steps eval_interval test_freq",
    ("evaluate.tasks",): "eval_tasks num_eval_tasks val_max_samples num_examples eval_episodes",
    ("evaluate.runs",): "num_runs n_runs num_generations_eval num_trials trials n_repeats repeats",
    ("browser.viewport_px",): "viewport viewport_size resolution",
    ("tracking.report_to",): "logger loggers tracker trackers log_with",
    ("tracking.project",): "wandb_project project_name experiment experiment_name",
    ("env.name",): "environment_factory",
    ("reward.name",): "reward_funcs reward_function custom_reward_function",
    ("sft.demos",): "num_demos demonstrations",
    ("collect.attempts",): "num_attempts num_samples samples_per_task",
}
"""What other libraries of the field call a key."""

_BY_ALIAS = {alias: keys for keys, aliases in ALIASES.items() for alias in aliases.split()}
_MOST = 3
"""Keys that are suggested at once."""
_FEW = 8
"""Keys of a section that are all named where none is near."""


def meant(wrong: str, known: Sequence[str]) -> list[str]:
    """The keys, of all `known` ones, that `wrong` may stand for, best first; both are dotted."""
    if wrong in known:
        return [wrong]
    section, _, name = wrong.lower().replace("-", "_").rpartition(".")
    names = {key: key.rpartition(".")[2] for key in known}
    here = [key for key in known if key.rpartition(".")[0] == section]
    for found in (
        [key for key in _BY_ALIAS.get(name, ()) if key in names],
        [key for key in known if names[key] == name],
        _near(name, {key: names[key] for key in here}, 0.5),
        _near(name, names, 0.75),
        _near(wrong, {key: key for key in known}, 0.75),
    ):
        if found:
            return sorted(found, key=lambda key: key not in here)[:_MOST]
    return []


def did_you_mean(wrong: str, known: Sequence[str]) -> str:
    """The end of an error about an unknown key: what it may stand for, or where to find the keys that there are."""
    if found := meant(wrong, known):
        return f"; did you mean {' or '.join(map(repr, found))}?"
    section = wrong.rpartition(".")[0]
    here = [key.rpartition(".")[2] for key in known if key.rpartition(".")[0] == section]
    if len(here) <= _FEW:
        return f"; {section} has {', '.join(here)}"
    return "; docs/recipes.md explains all keys, and `webdojo train RECIPE --dry-run --full` prints them"


def _near(wrong: str, names: dict[str, str], cutoff: float) -> list[str]:
    """The keys whose name is nearest, best first."""
    best = difflib.get_close_matches(wrong, set(names.values()), n=1, cutoff=cutoff)
    return [key for key, name in names.items() if name in best]
